/**
 * Reading an order, the mobile operators and the tariffs, compared with a bare node:http server that sends the same
 * bytes from memory.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Answer } from '../bare-server.ts'
import { type Bench, type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { clients } from '../pgbench.ts'
import { stopProcess } from '../processes.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { makeOrders } from '../sales.ts'
import { operatorCode } from '../world.ts'

const database = 'bench_reads'
const target = 0.5
const program = fileURLToPath(new URL('../bare-server.ts', import.meta.url))

export const readsCase: Case = {
  name: 'reads',
  async run(bench) {
    await bench.server.create(database, (await bench.world()).template)
    return using(serve(bench, database), async platform => {
      const make = async (count: number, confirmed: boolean): Promise<string[]> => {
        const orderIds = await makeOrders(platform, { count, confirmed, prefix: freshPrefix() })
        return orderIds.map(orderId => `/esim/v1/orders/${orderId}`)
      }
      const [confirmed, reserved] = [await make(2_000, true), await make(2_000, false)]
      await bench.server.run(database, 'vacuum analyze')
      const groups = [
        // `awake` is for reads that both sides answer from memory. For other reads, a client that never sleeps would
        // take processor time that PostgreSQL needs.
        { name: 'GET /orders/{orderId}, confirmed', paths: confirmed, awake: true },
        { name: 'GET /orders/{orderId}, reserved', paths: reserved, awake: false },
        { name: 'GET /operators', paths: ['/esim/v1/operators'], awake: true },
        {
          name: 'GET /operators/{operatorCode}/tariffs',
          paths: [`/esim/v1/operators/${operatorCode}/tariffs`],
          awake: false,
        },
      ]
      const answers = await recordAnswers(
        platform,
        groups.flatMap(({ paths }) => paths),
      )
      return using(startBareServer(bench, answers), async bare => {
        const figures: Figure[] = []
        for (const group of groups) figures.push(await measure(bench, group, { platform, bare }))
        return figures
      })
    })
  },
}

async function measure(
  bench: Bench,
  { name, paths, awake }: { name: string; paths: string[]; awake: boolean },
  servers: { platform: Served; bare: { port: number } },
): Promise<Figure> {
  const rate = (port: number) => (seconds: number) => {
    const load = { kind: 'get', paths } as const
    const { token } = servers.platform
    return rateOf({ ports: [port], token, connections: clients, seconds, load, awake }, 'get')
  }
  const [ours, limit] = [rate(servers.platform.port), rate(servers.bare.port)]
  // These reads warm up both sides and are not measured. The platform needs some seconds to notice that the tables have
  // grown.
  await ours(6)
  await limit(1)
  const compared = await compare(
    bench.rounds,
    () => ours(bench.seconds / 2),
    () => limit(bench.seconds / 2),
  )
  return {
    name: `${name}, against bare node:http`,
    ours: `${Math.round(compared.ours)}/s`,
    limit: `${Math.round(compared.limit)}/s`,
    ratio: compared.ratio,
    target: `>= ${target}`,
    pass: compared.ratio >= target,
  }
}

/** Records the platform's answers, without the headers that Node.js adds to every answer. */
async function recordAnswers({ url, token }: Served, paths: string[]): Promise<Record<string, Answer>> {
  const added = new Set(['date', 'connection', 'keep-alive'])
  const answers: Record<string, Answer> = {}
  for (const path of paths) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}`)
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !added.has(name)))
    answers[path] = { headers, body: Buffer.from(await answer.arrayBuffer()).toString('base64') }
  }
  return answers
}

async function startBareServer(bench: Bench, answers: Record<string, Answer>) {
  const file = join(bench.folder, 'answers.json')
  await writeFile(file, JSON.stringify(answers))
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { port: Number(line.toString()), stop: () => stopProcess(child) }
}
