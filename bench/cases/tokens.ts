/** Issuing tokens over HTTP, and verifying one. */
import { randomBytes, randomUUID } from 'node:crypto'
import { createTokens } from '../../src/access/tokens.ts'
import type { Caller } from '../../src/caller.ts'
import { makeTokenKeys } from '../../test/support/token-keys.ts'
import { atMost, type Bench, type Case, serve, using } from '../bench.ts'
import { rateOf } from '../load.ts'
import { clients } from '../pgbench.ts'
import type { Figure } from '../report.ts'
import { median } from '../rounds.ts'

const database = 'bench_tokens'
const issuedTarget = 2_000
const checkTargetUs = 20

export const tokensCase: Case = {
  name: 'tokens',
  async run(bench) {
    await bench.server.create(database, (await bench.world()).template)
    return [await issuing(bench), ...(await checking(bench))]
  },
}

async function issuing(bench: Bench): Promise<Figure> {
  const body = JSON.stringify((await bench.world()).credential)
  const load = { kind: 'post', path: '/getToken/auth', body } as const
  const rates = await using(serve(bench, database), async ({ port }) => {
    const measured: number[] = []
    const rate = (seconds: number) =>
      rateOf({ ports: [port], token: null, connections: clients, seconds, load }, 'post')
    await rate(1)
    for (let round = 0; round < bench.rounds; round++) measured.push(await rate(bench.seconds))
    return measured
  })
  const issued = median(rates)
  return {
    name: 'tokens issued (POST /getToken/auth)',
    ours: `${Math.round(issued)}/s`,
    limit: '',
    ratio: null,
    target: `>= ${issuedTarget}/s`,
    pass: issued >= issuedTarget,
  }
}

/**
 * Verifies tokens in this process. Each token is verified twice: first when it is new, and then when it is in the
 * cache.
 */
async function checking(bench: Bench): Promise<Figure[]> {
  // The number of tokens. The cache (`src/access/tokens.ts`) has room for more, so it still has each of them the second time.
  const count = 10_000
  const perCheck = { first: [] as number[], again: [] as number[] }
  for (let round = 0; round <= bench.rounds; round++) {
    const tokens = createTokens(await makeTokenKeys([randomBytes(32)]))
    const callers = Array.from({ length: count }, (): Caller => {
      return { type: 'bank', bankId: randomUUID(), role: 'ADMIN', userType: 'gateway_user', subject: randomUUID() }
    })
    const issued = callers.map(caller => tokens.issue(caller).token)
    for (const kind of ['first', 'again'] as const) {
      const start = performance.now()
      for (const token of issued) if (tokens.read(token) === null) throw new Error('A token of ours was refused')
      // The first round is only a warm-up.
      if (round > 0) perCheck[kind].push(((performance.now() - start) * 1000) / count)
    }
  }
  return [
    atMost('check of a token never seen before', median(perCheck.first), 'us', checkTargetUs),
    atMost('check of a token seen before', median(perCheck.again), 'us', checkTargetUs),
  ]
}
