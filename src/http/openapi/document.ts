/** Completes every operation of a document: named schemas, headers, examples. */

import { apiOf } from '../errors.ts'
import { type Answer, declareHeaders, type Header } from './answer-headers.ts'
import { exampleOf, type Media } from './examples.ts'
import { createNamedSchemas, type NamedSchemas, type Schema } from './schemas.ts'

type Parameter = {
  name: string
  in: string
  description?: string
  required?: boolean
  example?: unknown
  schema: Schema
}
type Body = { required?: boolean; content: Record<string, Media> }

type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: Body
  responses: Record<string, Answer & { description: string; content?: Record<string, Media> }>
}

export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, Schema>; headers?: Record<string, Header> }
}

/** Completes a document in place. @param bodyIsOptional whether an operation may be called without its body */
export function finishDocument(document: OpenApiDocument, bodyIsOptional: (operationId: string) => boolean): void {
  const { components, paths } = document
  components.schemas ??= {}
  const schemas = createNamedSchemas(components.schemas)
  for (const [name, schema] of Object.entries({ ...components.schemas }))
    components.schemas[name] = schemas.document({ ...schema, title: undefined } as unknown as Schema)
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      finishOperation({ path, method: method.toUpperCase() }, operation, schemas)
      if (operation.requestBody && bodyIsOptional(operation.operationId)) operation.requestBody.required = false
    }
  components.schemas = Object.fromEntries(
    Object.entries(components.schemas).sort(([one], [other]) => (one < other ? -1 : 1)),
  )
  declareHeaders(document)
}

const portalError: Schema = { $ref: '#/components/schemas/PortalError' }

function finishOperation(at: { path: string; method: string }, operation: Operation, schemas: NamedSchemas): void {
  const { operationId, parameters = [], requestBody, responses } = operation
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1)
  for (const parameter of parameters) {
    // A parameter with a default need not be sent. This test comes before the next line, because that line may replace a named
    // schema by a reference, which has no `default`.
    if (parameter.schema.default !== undefined) delete parameter.required
    parameter.schema = schemas.document(parameter.schema)
    if (!parameter.required) describeExample(parameter)
  }
  for (const media of Object.values(requestBody?.content ?? {})) {
    media.schema = schemas.root(media.schema, `${name}Body`)
    const example = exampleOf(operationId, 'request')
    if (example !== undefined) media.example = example
  }
  for (const [status, answer] of Object.entries(responses)) {
    if (status === '204' || status === '304') delete answer.content
    for (const [type, media] of Object.entries(answer.content ?? {})) {
      const isPortalError = Number(status) >= 400 && apiOf(at.path) === 'portal'
      media.schema = isPortalError ? portalError : schemas.root(media.schema, `${name}Answer`)
      const example = exampleOf(operationId, status, { ...at, type, description: answer.description })
      if (example !== undefined) media.example = example
    }
  }
}

/**
 * Moves the example of an optional parameter into its description. The page fills every example into its form and sends it,
 * so a reader who only presses "Execute" would send filters, cursors and keys that they did not choose.
 */
function describeExample(parameter: Parameter): void {
  const { example, description } = parameter
  delete parameter.example
  if (example === undefined || typeof example === 'boolean') return
  const values = [example].flat().map(value => `\`${value}\``)
  const sentence = `For example ${values.join(', ')}.`
  parameter.description = description ? `${withFullStop(description)} ${sentence}` : sentence
}

const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)
