/**
 * A bare node:http server that sends a file. Its speed is the limit with which the platform's downloads are compared.
 * It runs as a process of its own, `node bench/file-server.ts FILE`, and prints its port.
 */
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'

const path = process.argv[2] ?? ''

const server = createServer((_, response) => {
  // If a reader disconnects, only its own answer ends, and the server continues.
  pipeline(createReadStream(path), response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as { port: number }).port}\n`))
