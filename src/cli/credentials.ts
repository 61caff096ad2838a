/**
 * The commands of `perkline credentials`: credentials of a bank's or merchant's systems (contract/operations.md, "The
 * command line").
 */
import { rolesOfSystems } from '../roles.ts'
import { addDuration } from '../text/duration.ts'
import { callAdmin } from './connection.ts'
import { usageError } from './failure.ts'
import { minute, type OutputOptions, print, table } from './output.ts'

export type IssueOptions = OutputOptions & { bank?: string; merchant?: string; role?: string; label?: string }

/** `perkline credentials issue`: creates a clientId and its secret, for a bank with a role or for a merchant. */
export async function issueCredential(options: IssueOptions): Promise<void> {
  const { bank, merchant, role, label } = options
  if ((bank === undefined) === (merchant === undefined))
    throw usageError('Please give either --bank CODE or --merchant CODE.')
  if (merchant !== undefined && role !== undefined)
    throw usageError('--role goes with --bank only: a merchant’s credential may do everything.')
  const roles: readonly (string | undefined)[] = rolesOfSystems.bank
  if (bank !== undefined && !roles.includes(role))
    throw usageError(`With --bank, --role must be one of ${roles.join(', ')}.`)
  const issued = await callAdmin<{ clientId: string; secret: string }>({
    method: 'POST',
    path: '/credentials',
    json: { bank, merchant, role, label },
  })
  print(options, issued, secretLines(issued))
}

type Credential = {
  clientId: string
  bank: string | null
  merchant: string | null
  role: string
  label: string | null
  createdAt: string
  previousValidUntil: string | null
  revokedAt: string | null
}

/** `perkline credentials list`. */
export async function listCredentials(options: OutputOptions): Promise<void> {
  const credentials = await callAdmin<Credential[]>({ method: 'GET', path: '/credentials' })
  const now = new Date()
  const rows = credentials.map(credential => [
    credential.clientId,
    credential.bank === null ? `merchant ${credential.merchant}` : `bank ${credential.bank}`,
    credential.role,
    minute(credential.createdAt),
    stateOf(credential, now),
    credential.label ?? '',
  ])
  const lines = table(['CLIENT ID', 'FOR', 'ROLE', 'CREATED (UTC)', 'STATE', 'LABEL'], rows)
  print(options, credentials, rows.length === 0 ? ['There are no credentials yet.'] : lines)
}

/** `perkline credentials rotate CLIENT_ID`: creates a second secret; the first one works until the overlap ends. */
export async function rotateCredential(clientId: string, options: OutputOptions & { overlap?: string }): Promise<void> {
  const { overlap } = options
  if (overlap !== undefined && addDuration(new Date(0), overlap) === null)
    throw usageError('--overlap must be an ISO 8601 duration, like PT24H or P7D.')
  const rotated = await callAdmin<{ clientId: string; secret: string; previousValidUntil: string }>({
    method: 'POST',
    path: `/credentials/${encodeURIComponent(clientId)}/rotate`,
    json: { overlap },
  })
  const until = `The secret before works until ${minute(rotated.previousValidUntil)} UTC.`
  print(options, rotated, [...secretLines(rotated), until])
}

/** `perkline credentials revoke CLIENT_ID`: ends a credential and its tokens. */
export async function revokeCredential(clientId: string, options: OutputOptions): Promise<void> {
  const path = `/credentials/${encodeURIComponent(clientId)}/revoke`
  const revoked = await callAdmin<{ clientId: string }>({ method: 'POST', path })
  print(options, revoked, [
    `${revoked.clientId} is revoked: within 10 seconds neither it nor its tokens work any more.`,
  ])
}

const secretLines = ({ clientId, secret }: { clientId: string; secret: string }): string[] => [
  `clientId  ${clientId}`,
  `secret    ${secret}`,
  'Store the secret now: it is shown only once.',
]

function stateOf({ revokedAt, previousValidUntil }: Credential, now: Date): string {
  if (revokedAt !== null) return `revoked ${minute(revokedAt)}`
  if (previousValidUntil === null || new Date(previousValidUntil) <= now) return 'in use'
  return `in use, old secret too until ${minute(previousValidUntil)}`
}
