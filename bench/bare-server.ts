/**
 * A bare node:http server that sends the platform's answers from memory. Its speed is the limit with which the
 * platform's reads are compared. It runs as a process of its own, `node bench/bare-server.ts FILE`, where FILE is a
 * JSON object of answers by path. The server prints its port.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'

export type Answer = { headers: Record<string, string>; body: string }

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Record<string, Answer>).map(
    ([path, { headers, body }]) => [path, { headers, bytes: Buffer.from(body, 'base64') }],
  ),
)

const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '')
  if (!answer) return response.writeHead(404).end()
  return response.writeHead(200, answer.headers).end(answer.bytes)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as { port: number }).port}\n`))
