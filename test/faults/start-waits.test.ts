/** A start that has to wait logs the reason. */
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { processesOnServer } from '../support/served.ts'

const { onServer, start } = processesOnServer()

test('for the schema: the log says what it may wait for, and it starts once it can', async t => {
  const database = await createTestDatabase()
  t.after(() => database.close())
  const settings = onServer(database.url)
  const run = await database.database.transaction(async holder => {
    await holder.execute('lock table schema_migrations in access exclusive mode')
    const waiting = await start(t, ['serve'], settings)
    while (!waiting.stdout().includes('waits for another process')) await sleep(50)
    return waiting
  })
  await run.ready()
})
