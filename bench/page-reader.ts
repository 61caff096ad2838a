/**
 * Reads answers one after the other, in a process of its own: `node bench/page-reader.ts '<Pages as JSON>'`. It prints
 * how many milliseconds all of them took. A small process reads large answers at less cost than the benchmark's
 * process. psql, to which it is compared, is a small process, too.
 */
import process from 'node:process'
import { timeToRead } from './reading.ts'

export type Pages = { port: number; token: string; paths: string[] }

const { port, token, paths } = JSON.parse(process.argv[2] ?? '') as Pages
let ms = 0
for (const path of paths) ms += await timeToRead(port, token, path)
process.stdout.write(JSON.stringify(ms))
// The connection that is kept open would keep the process alive.
process.exit()
