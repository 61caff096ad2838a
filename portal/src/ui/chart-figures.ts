/**
 * How a chart is drawn: vertical bars for counts and sums by time, horizontal rows for counts and sums by name, and
 * lines for continuous values.
 */
export type Drawing = 'bars' | 'rows' | 'lines'

/** @param color a colour of the theme with its shade (`blue.4`); default: the next of the chart's own colours */
export type ChartSeries = { name: string; label: string; color?: string }

/** A point on the axis of days or names, and the value of each series there. */
export type ChartPoint = { label: string } & Record<string, string | number>
