/**
 * A chart with its title. A button shows the same figures as a table. Screen readers use this table, because the
 * drawing is hidden from them. On paper there is the table, too, because the drawing keeps the width that it has on the
 * screen. The code that draws is loaded when a chart is first shown.
 */
import { Button, Card, Group, Skeleton, Table, Title } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import type { ChartPoint, ChartSeries, Drawing } from './chart-figures.ts'
import { part } from './not-loaded.ts'
import { usePrinting } from './printing.ts'
import { uiTexts } from './texts.ts'

const ChartDrawing = lazy(() => part(import('./chart-drawing.tsx')))

/**
 * @param props.kind bars for counts and sums by time, rows for counts and sums by name (with complete names), lines for
 *   continuous values
 * @param props.value formats a figure: `format.number`, or money in its currency
 */
export function Chart(props: {
  title: string
  kind: Drawing
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  value: (figure: number) => string
  isStacked?: boolean
  height?: number
}) {
  const { title, kind, points, series, value, isStacked = false, height = 260 } = props
  const texts = useTexts(uiTexts)
  const [isTable, setIsTable] = useState(false)
  const isPrinting = usePrinting()
  return (
    <Card component="section" aria-label={title}>
      <Group justify="space-between" mb="md">
        <Title order={2}>{title}</Title>
        <Button variant="subtle" size="compact-sm" onClick={() => setIsTable(!isTable)}>
          {isTable ? texts.chart.asChart : texts.chart.asTable}
        </Button>
      </Group>
      {isTable || isPrinting ? (
        <Figures points={points} series={series} value={value} />
      ) : (
        <Suspense fallback={<Skeleton height={height} />}>
          <div aria-hidden>
            <ChartDrawing {...{ kind, points, series, value, isStacked, height }} />
          </div>
        </Suspense>
      )}
    </Card>
  )
}

function Figures({
  points,
  series,
  value,
}: {
  points: readonly ChartPoint[]
  series: readonly ChartSeries[]
  value: (figure: number) => string
}) {
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {series.map(({ name, label }) => (
              <Table.Th key={name} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {points.map((point, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two points may have the same label
            <Table.Tr key={place}>
              <Table.Th scope="row">{point.label}</Table.Th>
              {series.map(({ name }) => (
                <Table.Td key={name} ta="right" className="figure">
                  {value(Number(point[name] ?? 0))}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
