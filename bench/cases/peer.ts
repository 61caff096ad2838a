/**
 * Compares reserving, and reserving with confirming, with a conventional implementation of the same operations
 * (`bench/peer`). Both sides are measured alternately, with 64 connections each.
 */
import { type Bench, type Case, freshPrefix, serve, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { startPeer } from '../peer.ts'
import { clients } from '../pgbench.ts'
import type { Figure } from '../report.ts'
import { compare } from '../rounds.ts'
import { operatorCode, tariffCode } from '../world.ts'

const database = 'bench_against_peer'
const target = 15
const peerProfiles = 100_000

export const peerCase: Case = {
  name: 'peer',
  async run(bench) {
    await bench.server.create(database, (await bench.world()).template)
    return using(serve(bench, database), platform =>
      using(startPeer(bench.server, peerProfiles), async peer => {
        const rate = (server: { port: number; token: string }, kind: 'reserve' | 'sell', seconds: number) => {
          const load = { kind, operatorCode, tariffCode, prefix: freshPrefix() }
          const job = { ports: [server.port], token: server.token, connections: clients, seconds, load }
          return rateOf(job, kind === 'sell' ? 'confirm' : 'reserve')
        }
        await rate(platform, 'sell', 2)
        await rate(peer, 'sell', 2)
        await bench.server.run(database, 'vacuum analyze orders')
        const against = (kind: 'reserve' | 'sell') =>
          figure(bench, kind === 'sell' ? 'reserve + confirm' : 'reserve', [
            seconds => rate(platform, kind, seconds),
            seconds => rate(peer, kind, seconds),
          ])
        return [await against('reserve'), await against('sell')]
      }),
    )
  },
}

type Rate = (seconds: number) => Promise<number>

async function figure(bench: Bench, name: string, [ours, peer]: [Rate, Rate]): Promise<Figure> {
  const compared = await compare(
    bench.rounds,
    () => ours(bench.seconds),
    () => peer(bench.seconds),
  )
  return {
    name: `${name} over HTTP, against Nest + TypeORM`,
    ours: `${Math.round(compared.ours)}/s`,
    limit: `${Math.round(compared.limit)}/s`,
    ratio: compared.ratio,
    target: `>= ${target}`,
    pass: compared.ratio >= target,
  }
}
