/**
 * Compares two processes on one database with one process alone. The one process always gets 64 connections. The two
 * processes get 64 connections each in the first comparison, and 32 each in the second.
 */
import { type Case, freshPrefix, type Served, serve, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { clients } from '../pgbench.ts'
import { cpuMsOf } from '../processes.ts'
import { compare, median } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const database = 'bench_processes'

export const processesCase: Case = {
  name: 'processes',
  async run(bench) {
    await bench.server.create(database, (await bench.world()).template)
    const rate = (platforms: Served[], seconds: number, connections = clients) => {
      const load = { kind: 'sell', operatorCode, tariffCode, prefix: freshPrefix() } as const
      const ports = platforms.map(({ port }) => port)
      return rateOf({ ports, token: platforms[0]?.token ?? null, connections, seconds, load }, 'confirm')
    }
    return using(serve(bench, database), first =>
      using(serve(bench, database), async second => {
        await rate([first, second], 2)
        await bench.server.run(database, 'vacuum analyze orders')
        // These sales warm up the platforms and are not measured. A platform needs some seconds to notice that the
        // table has grown.
        await rate([first, second], 6)
        // Any answer other than 201 and 200 ends the benchmark.
        const measure = async (said: string, connections: number) => {
          const cpuUs: Record<'two' | 'one', number[]> = { two: [], one: [] }
          /**
           * Sells orders. It also records the processor time of a sale in the processes of the platform and of the
           * database server.
           */
          const sell = async (side: 'two' | 'one', platforms: Served[], open: number): Promise<number> => {
            const cpuMs = () => platforms.reduce((sum, { child }) => sum + cpuMsOf(child.pid), bench.server.cpuMs())
            const before = cpuMs()
            const perSecond = await rate(platforms, bench.seconds, open)
            cpuUs[side].push(((cpuMs() - before) * 1_000) / (perSecond * bench.seconds))
            return perSecond
          }
          const compared = await compare(
            bench.rounds,
            () => sell('two', [first, second], connections),
            () => sell('one', [first], clients),
          )
          const cpu = (side: 'two' | 'one') => `${Math.round(median(cpuUs[side]))} µs of processors`
          return {
            name: `reserve + confirm by two processes, ${said}, against one`,
            ours: `${Math.round(compared.ours)}/s, ${cpu('two')}`,
            limit: `${Math.round(compared.limit)}/s, ${cpu('one')}`,
            ratio: compared.ratio,
            target: '>= 1.0',
            pass: compared.ratio >= 1,
          }
        }
        return [
          await measure(`${clients} connections each`, 2 * clients),
          await measure(`${clients} connections in all`, clients),
        ]
      }),
    )
  },
}
