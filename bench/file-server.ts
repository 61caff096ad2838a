/** The limit for downloads: a bare node:http server that sends a file. A process of its own: `node bench/file-server.ts FILE`; prints its port. */
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'

const path = process.argv[2] ?? ''

const server = createServer((_, response) => {
  // A reader that leaves ends its answer, and nothing else.
  pipeline(createReadStream(path), response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as { port: number }).port}\n`))
