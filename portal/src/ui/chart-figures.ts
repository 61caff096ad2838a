/** What a chart shows: bars for counts and sums, lines for what goes on through time. */
export type Drawing = 'bars' | 'lines'

/** @param color a colour of the theme with its shade (`blue.4`); without one the next of the chart's own */
export type ChartSeries = { name: string; label: string; color?: string }

/** A point on the horizontal line, and the value of each series there. */
export type ChartPoint = { label: string } & Record<string, string | number>
