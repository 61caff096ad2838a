/** Draws a chart. `Chart` loads this code only when it is needed. */
import '@mantine/charts/styles.layer.css'
import { BarChart, LineChart } from '@mantine/charts'
import { useFormat } from '../i18n/preferences.tsx'
import type { ChartPoint, ChartSeries, Drawing } from './chart-figures.ts'

/** Hides the drawing from screen readers. They read the figures from the table (`Chart`). */
const unfocusable = { accessibilityLayer: false }

/** Colours that also differ in lightness, in light and in dark mode. */
const colours = ['perk.6', 'blue.4', 'orange.5', 'grape.5', 'gray.5']

/** The height of a chart of rows, with its axis and legend. Each row has space for a name of two lines. */
const rowsHeight = (rows: number): number => 80 + 48 * rows

export default function ChartDrawing(props: {
  kind: Drawing
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  value: (figure: number) => string
  isStacked: boolean
  height: number
}) {
  const { kind, points, series, value, isStacked, height } = props
  const format = useFormat()
  const data = [...points]
  const shared = {
    h: height,
    dataKey: 'label',
    series: series.map((one, index) => ({ color: colours[index % colours.length] ?? 'perk.6', ...one })),
    valueFormatter: value,
    withLegend: series.length > 1,
    legendProps: { itemSorter: null },
    gridAxis: 'x',
    tickLine: 'none',
    yAxisProps: { width: 56, tickFormatter: format.compact, allowDecimals: false },
  } as const
  if (kind === 'rows')
    return (
      <BarChart
        {...shared}
        h={rowsHeight(points.length)}
        orientation="vertical"
        gridAxis="y"
        xAxisProps={{ tickFormatter: format.compact, allowDecimals: false }}
        yAxisProps={{ width: 130, interval: 0 }}
        barChartProps={unfocusable}
        data={data}
        type={isStacked ? 'stacked' : 'default'}
        maxBarWidth={20}
      />
    )
  return kind === 'bars' ? (
    <BarChart
      {...shared}
      barChartProps={unfocusable}
      data={data}
      type={isStacked ? 'stacked' : 'default'}
      maxBarWidth={36}
    />
  ) : (
    <LineChart
      {...shared}
      lineChartProps={unfocusable}
      data={data}
      curveType="monotone"
      strokeWidth={2.5}
      withDots={points.length < 40}
    />
  )
}
