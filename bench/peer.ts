/** Starts the peer (`bench/peer`): a conventional implementation of reserving and confirming, with its own database. */
import { spawn } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/free-port.ts'
import type { DatabaseServer } from './database.ts'
import { runProgram, stopProcess, untilAnswered } from './processes.ts'
import { operatorCode, tariffCode } from './world.ts'

export type Peer = { port: number; token: string; stop(): Promise<void> }

const folder = fileURLToPath(new URL('./peer', import.meta.url))

/** Installs and builds the peer if needed, fills its stock and starts it. */
export async function startPeer(server: DatabaseServer, profiles: number): Promise<Peer> {
  await build()
  const database = 'bench_peer'
  await server.create(database)
  const port = await freePort()
  const secret = randomBytes(32).toString('hex')
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    PORT: String(port),
    JWT_SECRET: secret,
    PGHOST: server.socketFolder,
    PGPORT: String(server.port),
    PGUSER: 'perkline',
    PGDATABASE: database,
    DATABASE_POOL: '10',
  }
  const child = spawn(process.execPath, [join(folder, 'dist/main.js')], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const stop = () => stopProcess(child)
  try {
    await untilAnswered(child, `http://127.0.0.1:${port}/esim/v1/orders`, [401, 404])
    await server.run(database, ...stock(profiles), 'vacuum analyze')
  } catch (error) {
    await stop()
    throw error
  }
  return { port, token: signToken(secret, randomUUID()), stop }
}

async function build(): Promise<void> {
  const npm = (...args: string[]) => runProgram('npm', args, { cwd: folder })
  if (!existsSync(join(folder, 'node_modules'))) await npm('ci')
  await npm('run', 'build')
}

/** SQL that fills the peer's stock. The tables exist already, because the peer itself creates them. */
const stock = (profiles: number): string[] => [
  `insert into operators (id, code, name) values (1, '${operatorCode}', 'Kyivstar')`,
  `insert into tariffs (id, "operatorId", code, name, price, currency)
   values (1, 1, '${tariffCode}', 'Europe 10 GB', 399.00, 'UAH')`,
  `insert into profiles ("tariffId", iccid, msisdn, pin1, "activationCode")
   select 1, '8999900010' || lpad(n::text, 9, '0'), '+9990001' || lpad(n::text, 8, '0'), '1234',
          'LPA:1$smdp.example.com$' || upper(substr(md5(n::text), 1, 23))
   from generate_series(1, ${profiles}) n`,
]

function signToken(secret: string, bankId: string): string {
  const now = Math.floor(Date.now() / 1000)
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: 'bench', bankId, iat: now, exp: now + 7200 })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
