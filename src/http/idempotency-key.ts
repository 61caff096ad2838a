/**
 * The header `Idempotency-Key` in HTTP (contract/http.md, "Repeated requests"). `idempotency/` implements its effect.
 */
import Type from 'typebox'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the operation accepts an Idempotency-Key. With `own`, the answer depends on the person who calls, or
     * contains a secret, so nobody else of the account may get the stored answer.
     */
    idempotent?: boolean | 'own'
  }
}

/** The `config` of a route that accepts an Idempotency-Key. */
export const idempotent = { idempotent: true }
/** The `config` of a route whose stored answer only the same person may get again. */
export const idempotentForOwn = { idempotent: 'own' } as const

/** Adds the header to the options of an upload's route. */
export const idempotentUpload = <Options extends { config: object }>(options: Options) =>
  ({ ...options, config: { ...options.config, ...idempotent } }) as const

export const keyHeader = 'idempotency-key'
export const replayedHeader = 'idempotent-replayed'

/** How the documents describe the header. */
export const KeyHeader = Type.String({
  minLength: 1,
  maxLength: 257,
  description:
    'Makes the request safe to retry: with the same key and content it takes effect once, and a retry returns the ' +
    'first answer with `idempotent-replayed: true`. 1 to 255 visible ASCII characters, with or without quotes; a key ' +
    'belongs to the account and the ' +
    'operation and is kept for 24 hours (a setting of the platform). Only 2xx answers are stored.',
  examples: ['9b2f6d1e-order-42'],
})
export const keyErrors = {
  409: 'A request with this `Idempotency-Key` is still running; try again after `Retry-After` seconds',
  422: 'The `Idempotency-Key` was used for another request',
}

const keyForm = /^[\x21-\x7e]{1,255}$/

/** Reads the key from the header's value. @returns null for an invalid key */
export function readKey(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1]
  if (quoted === undefined && header.startsWith('"')) return null
  const key = quoted?.replace(/\\(.)/g, '$1') ?? header
  return keyForm.test(key) ? key : null
}
