/** Measures how long single requests take. Only one request runs at a time. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'

const agent = new Agent({ keepAlive: true })

/**
 * Reads an answer to its end.
 * @returns milliseconds
 * @throws Error when it is not 200
 */
export async function timeToRead(port: number, token: string, path: string): Promise<number> {
  const start = performance.now()
  const sent = get({ port, path, agent, headers: { authorization: `Bearer ${token}` } })
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  const ms = performance.now() - start
  if (answer.statusCode !== 200)
    throw new Error(`GET ${decodeURI(path)} answers ${answer.statusCode} after ${Math.round(ms)} ms`)
  return ms
}
