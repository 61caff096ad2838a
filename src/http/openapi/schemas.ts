/**
 * Converts schemas to the form of an OpenAPI document: a schema with a `title` is defined once, and referenced
 * everywhere else.
 */

export type Schema = {
  $ref?: string
  title?: string
  description?: string
  type?: string | string[]
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  contentSchema?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  'x-documented'?: object
  [keyword: string]: unknown
}

export type NamedSchemas = {
  /** Returns the schema in the form of the document: a reference if the schema has a name. */
  document(schema: Schema): Schema
  /** Names the schema of a body or an answer, unless it has a name already. */
  root(schema: Schema, name: string): Schema
}

/**
 * Creates the functions that name schemas. They throw an Error when two different schemas have the same name.
 *
 * @param components receives the named schemas of the document
 */
export function createNamedSchemas(components: Record<string, Schema>): NamedSchemas {
  const texts = new Map(Object.entries(components).map(([name, schema]) => [name, textOf(schema)]))
  const names = new Map<string, string>()

  function named(schema: Schema, name: string): Schema {
    const text = textOf(schema)
    const known = texts.get(name)
    if (known !== undefined && known !== text)
      throw new Error(`Two different schemas have the title ${name}: give one of them another title`)
    if (known === undefined) {
      const { title: _, ...rest } = schema
      components[name] = rest
      texts.set(name, text)
      names.set(text, name)
    }
    const { description } = schema
    const ref = { $ref: `#/components/schemas/${name}` }
    return description === undefined || description === components[name]?.description ? ref : { ...ref, description }
  }

  function document(schema: Schema): Schema {
    if (schema.$ref !== undefined) return schema
    const { title, ...rest } = withParts(withDetails(schema), document)
    if (title === undefined) return rest
    if (!Array.isArray(rest.type)) return named({ ...rest, title }, title)
    const { description, ...present } = rest
    const types = rest.type.filter(type => type !== 'null')
    const only = {
      ...present,
      type: types.length === 1 ? types[0] : types,
      enum: rest.enum?.filter(one => one !== null),
    }
    const ref = named(
      { ...(JSON.parse(JSON.stringify(only)) as Schema), title, ...(description && { description }) },
      title,
    )
    return { anyOf: [ref, { type: 'null' }] }
  }

  return {
    document,
    root(schema, name) {
      const shown = document(schema)
      if (shown.items && isObject(shown.items)) return { ...shown, items: named(shown.items, `${name}Item`) }
      if (!isObject(shown)) return shown
      return named(shown, names.get(textOf(shown)) ?? name)
    },
  }
}

const isObject = ({ $ref, type }: Schema): boolean => $ref === undefined && type === 'object'

/**
 * Writes a schema as text without its descriptions, and with its keywords sorted, so that equal schemas have equal
 * texts.
 */
const textOf = ({ title: _, description: __, examples: ___, ...schema }: Schema): string =>
  JSON.stringify(Object.entries(schema).sort(([one], [other]) => (one < other ? -1 : 1)))

/**
 * Prepares a schema for the document: enums get a type, fields with a default become optional, and document-only
 * keywords are applied.
 */
function withDetails({ 'x-documented': documented, ...schema }: Schema): Schema {
  const detailed: Schema = { ...schema, ...documented }
  if (detailed.enum && detailed.type === undefined)
    detailed.type = detailed.enum.includes(null) ? ['string', 'null'] : 'string'
  const { properties, required } = detailed
  if (properties && required) {
    const needed = required.filter(name => properties[name]?.default === undefined)
    if (needed.length > 0) detailed.required = needed
    else delete detailed.required
  }
  return detailed
}

function withParts(schema: Schema, change: (part: Schema) => Schema): Schema {
  const { properties, items, contentSchema, additionalProperties } = schema
  const changed = { ...schema }
  if (properties)
    changed.properties = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, change(part)]))
  if (items) changed.items = change(items)
  if (contentSchema) changed.contentSchema = change(contentSchema)
  if (typeof additionalProperties === 'object') changed.additionalProperties = change(additionalProperties)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const)
    if (schema[keyword]) changed[keyword] = schema[keyword].map(change)
  return changed
}
