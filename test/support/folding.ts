/** A process that only adds up sales, without a pause, for a test that kills it. */
import process from 'node:process'
import { openDatabase } from '../../src/db/database.ts'
import { foldSales } from '../../src/esim/sold/fold-store.ts'

const database = openDatabase({ connection: { connectionString: process.argv[2] ?? '' }, poolSize: 2 })
for (;;) await foldSales(database)
