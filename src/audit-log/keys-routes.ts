/** Publishes the keys that sign or have signed checkpoints. Needs no token (contract/audit-log.md, "Checkpoints"). */
import type { FastifyInstance } from 'fastify'
import type { AuditKey } from './note.ts'

export type PublicAuditKey = AuditKey & { keyId: string }

export function registerAuditKeys(app: FastifyInstance, deps: { auditKeys(): Promise<PublicAuditKey[]> }): void {
  app.get('/.well-known/perkline-keys.json', { schema: { hide: true } }, async (_, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    return { keys: (await deps.auditKeys()).map(jwkOf) }
  })
}

const jwkOf = ({ keyId, x }: PublicAuditKey) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: x.toString('base64url'),
  kid: keyId,
  use: 'sig',
  'perkline:purpose': 'audit',
})
