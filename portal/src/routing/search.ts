/**
 * Filters, sorting and pages are kept in the address, in readable form (`?status=active&page=2`). Each route declares
 * its parameters with `searchParams`; invalid values are ignored.
 */

type Raw = Record<string, unknown>
type Field<Value> = (raw: unknown) => Value | undefined

/** The parameters that a page reads and a link may set; every one may be left out. */
export type Search<Fields extends Record<string, Field<unknown>>> = {
  [Name in keyof Fields]?: Exclude<ReturnType<Fields[Name]>, undefined> | undefined
}

/**
 * For a route's `validateSearch`. Assign it to a constant first (`const campaignsSearch = searchParams(...)`); written
 * inline in the route, it would lose its types.
 */
export function searchParams<const Fields extends Record<string, Field<unknown>>>(fields: Fields) {
  return (raw: Raw): Search<Fields> => {
    // Fields without a valid value are set to undefined and not left out, because the router would keep the raw value
    // of a missing field.
    const read = Object.entries(fields).map(([name, field]) => [name, field(raw[name])] as const)
    return { ...Object.fromEntries(read), ...reversedDays(Object.fromEntries(read)) } as Search<Fields>
  }
}

/** Drops both days if the last one is before the first. */
function reversedDays({ from, to }: Raw): Raw {
  return typeof from === 'string' && typeof to === 'string' && to < from ? { from: undefined, to: undefined } : {}
}

const first = (raw: unknown): unknown => (Array.isArray(raw) ? raw[0] : raw)

/** Any text that is not blank. */
export const text: Field<string> = raw => {
  const value = first(raw)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The cursor `next` of a page of a list: a time and an id, joined by `_`. */
export const cursor: Field<string> = raw => {
  const value = text(raw)
  return value !== undefined && /^[0-9]{1,18}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)
    ? value
    : undefined
}

/** A whole number from 1, such as a page. */
export const counting: Field<number> = raw => {
  const value = Number(first(raw))
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined
}

/** A day, `YYYY-MM-DD`. */
export const day: Field<string> = raw => {
  const value = first(raw)
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined
  const found = new Date(`${value}T00:00:00Z`)
  // `Date` reads the 31st of February as a day of March.
  return !Number.isNaN(found.getTime()) && found.toISOString().startsWith(value) ? value : undefined
}

/** A month, `YYYY-MM`, in the years that the platform has statements for. */
export const month: Field<string> = raw => {
  const value = first(raw)
  return typeof value === 'string' && /^2\d{3}-(0[1-9]|1[0-2])$/.test(value) ? value : undefined
}

export const oneOf =
  <const Value extends string>(values: readonly Value[]): Field<Value> =>
  raw =>
    values.find(value => value === first(raw))

export const manyOf =
  <const Value extends string>(values: readonly Value[]): Field<Value[]> =>
  raw => {
    const input = [raw].flat()
    const known = values.filter(value => input.includes(value))
    return known.length > 0 ? known : undefined
  }

/** The parameters of a sorted table with pages; add the fields of its filters. */
export const tableFields = <const Column extends string>(columns: readonly Column[]) => ({
  page: counting,
  sortBy: oneOf(columns),
  sortOrder: oneOf(['ASC', 'DESC']),
})

/** For the router's `parseSearch`. */
export function parseSearch(query: string): Raw {
  const params = new URLSearchParams(query)
  return Object.fromEntries(
    [...new Set(params.keys())].map(name => {
      const values = params.getAll(name)
      return [name, values.length > 1 ? values : values[0]]
    }),
  )
}

/** For the router's `stringifySearch`. */
export function stringifySearch(search: Raw): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    for (const each of [value].flat())
      if (each !== undefined && each !== null && each !== '') params.append(name, String(each))
  const query = params.toString()
  return query === '' ? '' : `?${query}`
}
