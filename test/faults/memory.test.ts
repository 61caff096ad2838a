/**
 * Node.js cuts small buffers out of chunks that many of them share. A cached order must not keep such a chunk in memory: 300 cached
 * orders keep at most 32 KiB of buffer memory each.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { each, openBank, range } from '../support/esim.ts'
import { startPlatform } from '../support/platform.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>

const orders = 300
/** How many bytes each order may keep, including a reserve for connections and other work. */
const mostBytesEach = 32 * 1024

/** Collects twice, because objects that the first round makes free are collected only by the second one. */
async function collectAll(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await new Promise(resolve => setImmediate(resolve))
  }
}

test(`${orders} orders that were read keep at most ${mostBytesEach} bytes each`, async t => {
  const platform = await startPlatform()
  t.after(() => platform.close())
  await platform.addStock('kyivstar', 'eu-10gb', orders)
  const bank = await openBank(platform)
  const ids: string[] = []
  await each(range(orders), 16, async n => void ids.push((await bank.reserve(`kept-${n}`)).body.orderId))
  await collectAll()
  const before = process.memoryUsage().arrayBuffers
  for (const id of ids) {
    assert.equal((await bank.read(id)).status, 200)
    // Small buffers share chunks of memory. These allocations fill chunks, so that each order is in a different chunk.
    // If the cache kept whole chunks, the memory used at the end would show it.
    for (const _ of range(40)) Buffer.from('x'.repeat(2_000))
  }
  await collectAll()
  const kept = process.memoryUsage().arrayBuffers - before
  assert.ok(kept < orders * mostBytesEach, `${Math.round(kept / orders)} bytes each`)
})
