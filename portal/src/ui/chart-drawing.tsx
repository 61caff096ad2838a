/** Draws a chart. `Chart` loads this code only when it is needed. */
import '@mantine/charts/styles.layer.css'
import { BarChart, LineChart } from '@mantine/charts'
import { ColorSwatch, Group, getThemeColor, Text, useMantineTheme } from '@mantine/core'
import { useFormat } from '../i18n/preferences.tsx'
import type { ChartPoint, ChartSeries, Drawing } from './chart-figures.ts'

/** Hides the drawing from screen readers. They read the figures from the table (`Chart`). */
const unfocusable = { accessibilityLayer: false }

/** Colours that also differ in lightness, in light and in dark mode. */
const colours = ['perk.6', 'blue.4', 'orange.5', 'grape.5', 'gray.5']

/** The height of a chart of rows, with its axis. Each row has space for a name of two lines. */
const rowsHeight = (rows: number): number => 48 + 48 * rows

type Coloured = ChartSeries & { color: string }

type Drawn<Series> = {
  kind: Drawing
  points: readonly ChartPoint[]
  series: readonly Series[]
  value: (figure: number) => string
  isStacked: boolean
  height: number
}

export default function ChartDrawing(props: Drawn<ChartSeries>) {
  const coloured = props.series.map((one, index) => ({ color: colours[index % colours.length] ?? 'perk.6', ...one }))
  return (
    <>
      {coloured.length > 1 && <Legend series={coloured} />}
      <Plot {...props} series={coloured} />
    </>
  )
}

/** The library's own legend takes its lines from the height of the chart, which leaves none for the bars on a phone. */
function Legend({ series }: { series: readonly Coloured[] }) {
  const theme = useMantineTheme()
  return (
    <Group justify="flex-end" gap="4px 16px" mb="sm">
      {series.map(({ name, label, color }) => (
        <Group key={name} gap={8} wrap="nowrap">
          <ColorSwatch color={getThemeColor(color, theme)} size={12} withShadow={false} />
          <Text size="sm">{label}</Text>
        </Group>
      ))}
    </Group>
  )
}

function Plot({ kind, points, series, value, isStacked, height }: Drawn<Coloured>) {
  const format = useFormat()
  const data = [...points]
  const shared = {
    h: height,
    dataKey: 'label',
    series: [...series],
    valueFormatter: value,
    gridAxis: 'x' as const,
    tickLine: 'none' as const,
    yAxisProps: { width: 56, tickFormatter: format.compact, allowDecimals: false },
  }
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
