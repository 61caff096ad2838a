/** Sales and uploads on a disk that is repeatedly full, for CHAOS_SECONDS; the short form is full-disk.test.ts. */
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { type Shop, sellOnFullDisk } from '../support/full-disk.ts'
import { startOwnShop } from '../support/own-shop.ts'
import { openSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { keepServer, startWorld } from '../support/world.ts'

const durationMs = Number(process.env.CHAOS_SECONDS ?? 60) * 1_000
const profiles = 20_000

type Closing = { shop: Shop; close(): Promise<void> }

async function onSmallDisk(t: TestContext, start: (disk: SmallDisk) => Promise<Closing>): Promise<void> {
  const disk = openSmallDisk(t, 1_024)
  if (!disk) return
  try {
    const { shop, close } = await start(disk)
    try {
      const endAt = performance.now() + durationMs
      const goesOn = (rounds: number) => rounds < 2 || performance.now() < endAt
      console.log(JSON.stringify(await sellOnFullDisk(shop, disk, { profiles, goesOn })))
    } finally {
      await close()
    }
  } finally {
    await disk.close()
  }
}

test('the disk of the embedded database is full again and again', t =>
  onSmallDisk(t, async ({ folder }) => {
    const shop = await startOwnShop({ parent: folder, profiles, seed: 8_101 })
    return { shop, close: shop.close }
  }))

test('the disk of a database server of others is full again and again', t =>
  onSmallDisk(t, async ({ folder }) => {
    const world = await startWorld({ processes: 2, profiles, seed: 8_102, parent: folder })
    const server = keepServer(world)
    return {
      shop: { ...world, connection: world.server.connection },
      async close() {
        await server.leave()
        await world.close()
      },
    }
  }))
