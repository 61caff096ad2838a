/**
 * A receiver in Python that follows only docs/guide-events.md. It checks signatures by the guide's own function, stores each event once
 * by its `webhook-id`, and then answers 204.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const guide = new URL('../../docs/guide-events.md', import.meta.url)

/**
 * The program prints its port in the first line. Each further line is a new event, or `forged` for a wrong signature.
 */
const main = `
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

file = sys.argv[1]
known, lock = set(), Lock()

class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open(file) as given:
            secret = given.read()
        genuine = is_genuine(secret, headers, body)
        with lock:
            if not genuine:
                print("forged", flush=True)
            elif headers["webhook-id"] not in known:
                known.add(headers["webhook-id"])
                print(json.dumps(json.loads(body)), flush=True)
        self.send_response(204 if genuine else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

class Server(ThreadingHTTPServer):
    # A killed process leaves connections that end in an error.
    def handle_error(self, *_):
        pass

server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
`

export type GuideReceiver = {
  url: string
  /** Gives the receiver the endpoint's secret. */
  keep(secret: string): Promise<void>
  /** The events that the receiver has stored. */
  events: { id: string; sequence: number; data: { operatorCode: string; tariffCode: string } }[]
  forged(): number
  close(): Promise<void>
}

/** @param folder a temporary one, for its program and its secret */
export async function startGuideReceiver(folder: string): Promise<GuideReceiver> {
  const [, code] = /```python\n([\s\S]*?)```/.exec(await readFile(guide, 'utf8')) ?? []
  assert.ok(code, 'the guide has no Python')
  const [program, secretFile] = [join(folder, 'receiver.py'), join(folder, 'secret')]
  await writeFile(program, code + main)
  await writeFile(secretFile, '')
  const child = spawn('python3', [program, secretFile], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [port] = (await once(lines, 'line')) as [string]
  const events: GuideReceiver['events'] = []
  let forged = 0
  lines.on('line', line => {
    if (line === 'forged') forged++
    else events.push(JSON.parse(line))
  })
  return {
    url: `http://127.0.0.1:${port}/`,
    keep: secret => writeFile(secretFile, secret),
    events,
    forged: () => forged,
    async close() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
