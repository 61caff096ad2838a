/**
 * The cost of logins with a second factor, and whether answers take longer for a login that exists
 * (contract/people.md).
 */
import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { codeOf, logInAs, type Person, setUpTotp } from '../../test/support/people.ts'
import type { TestPlatform } from '../../test/support/platform.ts'
import { callAt } from '../../test/support/process.ts'
import { type Bench, type Case, using } from '../bench.ts'
import { startPlatform } from '../platform.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const name = 'bench_people'
const password = 'correct horse battery staple'
const mostFactorRatio = 1.2
const mostDifference = 0.05

export const peopleCase: Case = {
  name: 'people',
  async run(bench) {
    await bench.server.create(name)
    const operatorKey = randomBytes(32).toString('hex')
    const settings = {
      DATABASE_URL: bench.server.url(name),
      DATA_DIR: bench.folder,
      MASTER_KEY: randomBytes(32).toString('base64'),
      OPERATOR_KEY: operatorKey,
      // The platform trusts the sender addresses that our requests claim to have. Each attempt claims a different
      // address, so that the limit of attempts per address never refuses one.
      TRUSTED_PROXIES: '127.0.0.1',
      LOG_LEVEL: 'error',
    }
    return using(startPlatform(settings), async ({ url }) => {
      const at: At = { call: callAt(url), operatorKey }
      const database = openDatabase({ connection: { connectionString: bench.server.url(name) }, poolSize: 2 })
      try {
        return [await secondFactor(bench, at, database), ...(await existence(bench, at, database))]
      } finally {
        await database.close()
      }
    })
  },
}

type At = { call: TestPlatform['call']; operatorKey: string }

let addresses = 0
const fromNewAddress = () => ({
  'x-forwarded-for': `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}`,
})

/**
 * Makes users of the platform who all have the same password. The first is added over HTTP; the others are copied from
 * it.
 */
async function addPeople({ call, operatorKey }: At, database: Database, prefix: string, count: number): Promise<void> {
  const body = { platform: true, role: 'admin', login: `${prefix}-0`, password, email: 'nobody@bench.example' }
  const added = await call('POST', '/admin/users', { token: operatorKey, body })
  if (added.status !== 201) throw new Error(added.text)
  await database.execute(
    `insert into portal_users (user_id, login, role, password_hash, created_at, email)
     select gen_random_uuid(), $1 || '-' || n, role, password_hash, created_at, email
     from portal_users, generate_series(1, $2::int) as n where login = $1 || '-0'`,
    [prefix, count - 1],
  )
}

/**
 * Sends a request.
 * @returns how long its answer took, in milliseconds
 */
async function timed(expected: number, ask: () => ReturnType<At['call']>): Promise<number> {
  const start = performance.now()
  const { status, text } = await ask()
  const ms = performance.now() - start
  if (status !== expected) throw new Error(`${status} ${text}`)
  return ms
}

/** Compares a login with a code to a login without one, in turns. */
async function secondFactor(bench: Bench, at: At, database: Database): Promise<Figure> {
  const count = bench.quick ? 40 : 200
  await addPeople(at, database, 'plain', count)
  await addPeople(at, database, 'factor', count)
  const accounts = (prefix: string) =>
    Array.from({ length: count }, (_, n) => ({ typeAccount: 'platform', login: `${prefix}-${n}`, password }) as const)
  const times = { with: [] as number[], without: [] as number[] }
  const plain = accounts('plain')
  for (const [index, account] of accounts('factor').entries()) {
    const person: Person = await logInAs(at, account)
    const { secret } = await setUpTotp(person)
    const ask = (body: object) => () => at.call('POST', '/auth/login', { body, headers: fromNewAddress() })
    times.with.push(await timed(200, ask({ ...account, otp: codeOf(secret) })))
    times.without.push(await timed(200, ask(plain[index] ?? account)))
  }
  const [ours, limit] = [median(times.with), median(times.without)]
  return {
    name: `a login with a one-time code, against one without (${count} each)`,
    ours: `${ours.toFixed(1)} ms`,
    limit: `${limit.toFixed(1)} ms`,
    ratio: ours / limit,
    target: `<= ${mostFactorRatio}`,
    pass: ours / limit <= mostFactorRatio,
  }
}

/** Compares answers for existing logins to those for unknown ones, alternating. */
async function existence(bench: Bench, at: At, database: Database): Promise<Figure[]> {
  const count = bench.quick ? 300 : 1_000
  await addPeople(at, database, 'known', count)
  const manager = await logInAs(at, { typeAccount: 'platform', login: 'plain-0', password })
  const operations: [what: string, ask: (login: string, n: number) => Promise<number>][] = [
    [
      'a refused login',
      login => {
        const body = { typeAccount: 'platform', login, password: 'some other long password' }
        return timed(401, () => at.call('POST', '/auth/login', { body, headers: fromNewAddress() }))
      },
    ],
    [
      'a forgotten password',
      login => {
        const body = { typeAccount: 'bank', login }
        return timed(202, () => at.call('POST', '/portal/password-resets', { body, headers: fromNewAddress() }))
      },
    ],
    [
      'an invitation',
      (login, n) =>
        timed(201, () =>
          manager.call('POST', `/portal/invitations?bank=bench-${n % banks}`, { login, role: 'VIEWER' }),
        ),
    ],
  ]
  await addBanks(at)
  const figures: Figure[] = []
  for (const [what, ask] of operations) figures.push(await inTurns(what, ask, count))
  return figures
}

/** How many banks invite people. An account can invite 300 an hour. */
const banks = 10

async function addBanks({ call, operatorKey }: At): Promise<void> {
  const entries = Array.from(
    { length: banks },
    (_, n) => `  - { code: bench-${n}, name: Bench ${n}, logoUrl: "https://bench.example/l.svg", apiVersion: "1.0" }\n`,
  )
  const directory = `banks:\n${entries.join('')}`
  const { status, text } = await call('POST', '/admin/directory', { token: operatorKey, body: { directory } })
  if (status !== 200) throw new Error(text)
}

async function inTurns(
  what: string,
  ask: (login: string, n: number) => Promise<number>,
  count: number,
): Promise<Figure> {
  const [known, unknown]: [number[], number[]] = [[], []]
  for (let n = 0; n < count; n++) {
    const isFirst = n % 2 === 0
    if (isFirst) known.push(await ask(`known-${n}`, n))
    unknown.push(await ask(`nobody-${n}`, n))
    if (!isFirst) known.push(await ask(`known-${n}`, n))
  }
  const [ours, limit] = [mean(known), mean(unknown)]
  return {
    name: `${what}, for a login that exists against one that does not (means of ${count})`,
    ours: `${ours.toFixed(2)} ms`,
    limit: `${limit.toFixed(2)} ms`,
    ratio: ours / limit,
    target: `${1 - mostDifference} to ${1 + mostDifference}`,
    pass: Math.abs(ours / limit - 1) <= mostDifference,
  }
}

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
