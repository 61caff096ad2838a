import { bankRoles, merchantRoles, platformRoles } from '../access/caller.ts'
import { callAdmin } from './connection.ts'
import { usageFault } from './failure.ts'
import { minute, type OutputOptions, print, table } from './output.ts'
import { readPassword } from './password.ts'

export type UserOptions = OutputOptions & {
  bank?: string
  merchant?: string
  platform?: boolean
  login: string
  role: string
}

/** `perkline users add`: the password comes from standard input, or is asked for on a terminal. */
export async function addUser(options: UserOptions): Promise<void> {
  const { bank, merchant, platform, login, role } = options
  if ([bank, merchant, platform].filter(named => named !== undefined).length !== 1)
    throw usageFault('Please give one of --merchant CODE, --bank CODE or --platform.')
  const roles: readonly string[] = platform ? platformRoles : bank === undefined ? merchantRoles : bankRoles
  if (!roles.includes(role)) throw usageFault(`--role must be one of ${roles.join(', ')} here.`)
  const password = await readPassword()
  const json = { bank, merchant, platform, login, role, password }
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
    accountOf(user),
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

function accountOf({ bank, merchant }: User): string {
  if (bank !== null) return `bank ${bank}`
  return merchant === null ? 'the platform' : `merchant ${merchant}`
}
