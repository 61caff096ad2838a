/** The commands of `perkline users`: people's logins and their policies. */
import { rolesOfPeople } from '../roles.ts'
import { callAdmin } from './connection.ts'
import { usageError } from './failure.ts'
import { minute, type OutputOptions, print, table } from './output.ts'
import { readPassword } from './password.ts'

export type UserOptions = OutputOptions & {
  bank?: string
  merchant?: string
  platform?: boolean
  login: string
  role: string
  email?: string
}

/** `perkline users add`: adds a person. The password is read from standard input, or typed on a terminal. */
export async function addUser(options: UserOptions): Promise<void> {
  const { bank, merchant, platform, login, role, email } = options
  requireOneAccount(options)
  const roles: readonly string[] = rolesOfPeople[platform ? 'platform' : bank === undefined ? 'retailer' : 'bank']
  if (!roles.includes(role)) throw usageError(`--role must be one of ${roles.join(', ')} here.`)
  const password = await readPassword()
  const json = { bank, merchant, platform, login, role, password, email }
  const added = await callAdmin<{ userId: string }>({ method: 'POST', path: '/users', json })
  print(options, added, [`${login} can log in now (user ${added.userId}).`])
}

type User = {
  userId: string
  login: string
  role: string
  bank: string | null
  merchant: string | null
  createdAt: string
  disabledAt: string | null
}

/** `perkline users list`. */
export async function listUsers(options: OutputOptions): Promise<void> {
  const users = await callAdmin<User[]>({ method: 'GET', path: '/users' })
  const rows = users.map(user => [
    user.login,
    accountText(user),
    user.role,
    minute(user.createdAt),
    user.disabledAt === null ? 'in use' : `disabled ${minute(user.disabledAt)}`,
    user.userId,
  ])
  const lines = table(['LOGIN', 'FOR', 'ROLE', 'CREATED (UTC)', 'STATE', 'USER ID'], rows)
  print(options, users, rows.length === 0 ? ['There are no users yet.'] : lines)
}

/** `perkline users disable LOGIN`. */
export async function disableUser(login: string, options: OutputOptions): Promise<void> {
  const path = `/users/${encodeURIComponent(login)}/disable`
  const disabled = await callAdmin<{ login: string }>({ method: 'POST', path })
  print(options, disabled, [`${disabled.login} is disabled: within 10 seconds neither login nor tokens work any more.`])
}

/** `perkline users erase LOGIN`. */
export async function eraseUser(login: string, options: OutputOptions): Promise<void> {
  const path = `/users/${encodeURIComponent(login)}/erase`
  const erased = await callAdmin<{ login: string }>({ method: 'POST', path })
  print(options, erased, [`${erased.login} is erased: the login is free again. The audit log keeps the id.`])
}

export type PolicyOptions = OutputOptions & NamedAccount & { addressesOff?: boolean }
type NamedAccount = { bank?: string; merchant?: string; platform?: boolean }
type Policy = {
  mfa: string
  sessionMinutes: number
  addresses: { people: string[]; systems: string[] }
}

/** `perkline users policy`: shows an account's policy, or removes its address lists. */
export async function usersPolicy(options: PolicyOptions): Promise<void> {
  const { bank, merchant, platform, addressesOff } = options
  requireOneAccount(options)
  const account = Object.entries({ bank, merchant, platform }).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(account.map(([name, value]): [string, string] => [name, String(value)])).toString()
  const path = '/security-policy'
  const policy = addressesOff
    ? await callAdmin<Policy>({ method: 'POST', path: `${path}/addresses-off`, json: Object.fromEntries(account) })
    : await callAdmin<Policy>({ method: 'GET', path: `${path}?${query}` })
  const { people, systems } = policy.addresses
  print(options, policy, [
    ...(addressesOff ? ['The address lists are off: within 10 seconds everybody gets in from everywhere.'] : []),
    `Second factor: ${policy.mfa}`,
    `Sessions: ${policy.sessionMinutes} minutes`,
    `People come from: ${people.join(', ') || 'everywhere'}`,
    `Systems come from: ${systems.join(', ') || 'everywhere'}`,
  ])
}

function requireOneAccount({ bank, merchant, platform }: NamedAccount): void {
  if ([bank, merchant, platform].filter(named => named !== undefined).length !== 1)
    throw usageError('Please give one of --merchant CODE, --bank CODE or --platform.')
}

function accountText({ bank, merchant }: User): string {
  if (bank !== null) return `bank ${bank}`
  return merchant === null ? 'the platform' : `merchant ${merchant}`
}
