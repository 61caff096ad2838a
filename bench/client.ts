/**
 * The load generator, a process of its own: `node bench/client.ts '<Job as JSON>'`; it prints a Result as JSON. It uses
 * raw sockets, because on two cores a client with more work would slow down the platform. Each connection sends its next
 * request when it has the answer.
 */
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import process from 'node:process'
import { type Call, callsOf, type Load } from './requests.ts'

export type Job = {
  /** The connections are distributed over these targets. */
  ports: number[]
  token: string | null
  connections: number
  seconds: number
  load: Load
  /** How long a connection pauses after an answer. Without this value, a connection does not pause. */
  pauseMs?: number
  /**
   * The client never sleeps. If it slept between the answers of a slower server, each answer would have to wake the
   * client's processor. On a virtual machine this costs the server as much as the request itself. A faster server would
   * not have this cost, because the client would be awake.
   */
  awake?: boolean
  /**
   * The client gets only the processor time that nothing else wants. Use this for clients that disturb others: in
   * production they run on machines of their own.
   */
  lowest?: boolean
}
export type Latency = { count: number; p50Ms: number; p99Ms: number; maxMs: number }
export type Result = {
  seconds: number
  /** For each kind of request: the number of expected answers, and how long they took. */
  answered: Record<string, Latency>
  /** The number of each unexpected outcome. Its key is the kind of request with the status, or a broken connection. */
  unexpected: Record<string, number>
}

/** The first answers are not counted, because the client itself is still warming up. */
export const warmUpMs = 300
const stepsPerMs = 100
const slowestMs = 10_000

/** Counts of latencies in steps of 10 µs. */
function createHistogram() {
  const counts = new Uint32Array(slowestMs * stepsPerMs)
  let count = 0
  let maxMs = 0
  return {
    add(ms: number): void {
      const step = Math.min(Math.floor(ms * stepsPerMs), counts.length - 1)
      counts[step] = (counts[step] ?? 0) + 1
      count++
      if (ms > maxMs) maxMs = ms
    },
    read(): Latency {
      const quantile = (share: number) => {
        let left = count * share
        const step = counts.findIndex(of => {
          left -= of
          return left <= 0
        })
        return (step + 1) / stepsPerMs
      }
      return { count, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs }
    },
  }
}

function requestText({ method, path, body, headers = {} }: Call, token: string | null): string {
  const lines = Object.entries({ ...(token !== null && { Authorization: `Bearer ${token}` }), ...headers })
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
  if (method === 'GET') return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** @returns null while the head of the answer is incomplete */
function readHead(text: string): { status: number; headLength: number; bodyLength: number } | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const status = Number(text.slice(9, 12))
  const length = status === 304 ? '0' : /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, headEnd + 2))?.[1]
  if (length === undefined) throw new Error('An answer without content-length')
  return { status, headLength: headEnd + 4, bodyLength: Number(length) }
}

export async function run(job: Job): Promise<Result> {
  const { ports, token, connections, seconds, load, pauseMs = 0 } = job
  const next = callsOf(load)
  const histograms = new Map<string, ReturnType<typeof createHistogram>>()
  const unexpected: Record<string, number> = {}
  const wrong = (what: string) => {
    unexpected[what] = (unexpected[what] ?? 0) + 1
  }
  const start = performance.now() + warmUpMs
  const end = start + seconds * 1000

  const settle = (call: Call, status: number, sentAt: number, now: number) => {
    if (status !== call.status) return wrong(`${call.kind} ${status}`)
    if (now < start) return
    const histogram = histograms.get(call.kind) ?? createHistogram()
    histograms.set(call.kind, histogram)
    histogram.add(now - sentAt)
  }

  const converse = (port: number | undefined) =>
    new Promise<void>(resolve => {
      let call = next(null)
      let sentAt = 0
      let text = ''
      let head: ReturnType<typeof readHead> = null
      const send = () => {
        sentAt = performance.now()
        socket.write(requestText(call, token), 'latin1')
      }
      const onData = (size: number, buffer: Uint8Array): boolean => {
        text += (buffer as Buffer).toString('latin1', 0, size)
        head ??= readHead(text)
        if (!head || text.length < head.headLength + head.bodyLength) return true
        const answer = { status: head.status, body: text.slice(head.headLength) }
        text = ''
        head = null
        const now = performance.now()
        settle(call, answer.status, sentAt, now)
        if (now >= end) {
          socket.end()
          return true
        }
        call = next(answer.status === call.status ? { call, body: answer.body } : null)
        if (pauseMs > 0) setTimeout(send, pauseMs)
        else send()
        return true
      }
      const socket = connect({
        port: port ?? 0,
        host: '127.0.0.1',
        noDelay: true,
        onread: { buffer: Buffer.alloc(64 * 1024), callback: onData },
      })
      socket.once('connect', send)
      socket.once('error', error => wrong(`connection ${(error as NodeJS.ErrnoException).code}`))
      socket.once('close', () => {
        if (performance.now() < end) wrong('connection closed')
        resolve()
      })
    })
  let isEnded = false
  const stayAwake = () => {
    if (!isEnded) setImmediate(stayAwake)
  }
  if (job.awake) stayAwake()
  if (job.lowest) setPriority(constants.priority.PRIORITY_LOW)
  await Promise.all(Array.from({ length: connections }, (_, index) => converse(ports[index % ports.length])))
  isEnded = true
  const answered = Object.fromEntries([...histograms].map(([kind, histogram]) => [kind, histogram.read()]))
  return { seconds: (performance.now() - start) / 1000, answered, unexpected }
}

if (import.meta.main) process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? '') as Job)))
