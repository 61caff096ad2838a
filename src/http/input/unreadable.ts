/** Answers input that Node.js could not parse as a request, and closes such connections. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import process from 'node:process'
import { DomainError } from '../../errors.ts'

type ParseError = Error & { code?: string; rawPacket?: unknown }

/**
 * How long the connection stays open after the answer, so that the answer can reach the client. Then the connection is
 * destroyed, even if the client has not closed its side.
 */
const lingerMs = 1_000

const messages: Record<number, string> = {
  400: 'The request cannot be read as HTTP',
  408: 'The request took too long',
  431: 'The headers must be shorter than 16 KiB',
  501: 'The request method is not supported',
  505: 'The request must be HTTP/1.1 or HTTP/1.0',
}

/** Destroys a connection after `lingerMs`, because a client that never closes it would hold a file descriptor forever. */
const destroyLater = (socket: Socket): void => void setTimeout(() => socket.destroy(), lingerMs).unref()

/** Ends a connection, but leaves the client time to read its answer. */
export function endConnection(socket: Socket): void {
  socket.end()
  destroyLater(socket)
}

/** The error of a `CONNECT` request, which no API supports. */
export const tunnelError: ParseError = Object.assign(new Error('CONNECT is not supported'), {
  code: 'HPE_INVALID_METHOD',
  rawPacket: Buffer.from('CONNECT / HTTP/1.1\r\n'),
})

/**
 * Creates the handler for input that cannot be parsed. Earlier requests on the same connection are answered first,
 * because a client assigns answers to its requests by their order.
 *
 * @param headers the headers of every answer
 */
export function createUnreadableAnswer(headers: Record<string, string>) {
  const fixed = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const send = (socket: Socket, statusCode: number): void => {
    const reason = STATUS_CODES[statusCode] ?? 'Bad Request'
    const body = JSON.stringify({ statusCode, message: messages[statusCode], error: reason })
    socket.end(
      `HTTP/1.1 ${statusCode} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\n${fixed.join('')}` +
        `X-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    )
    destroyLater(socket)
  }
  /**
   * Connections that already wait for the end of an earlier answer. Node.js calls this handler again for all later
   * bytes, and this set prevents a second wait.
   */
  const waiting = new WeakSet<Socket>()
  return function answerUnreadable(error: ParseError, socket: Socket): void {
    // Browsers and load balancers open connections in advance. So a connection that has sent nothing stays open here;
    // `http/connections.ts` limits the number of such connections.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return
    if (!socket.writable || socket.bytesRead === 0) return void socket.destroy()
    const answer = openAnswer(socket)
    if (answer === null) {
      // The bytes may belong to the body of a request that has been answered. A second answer would belong to no request.
      if (newest.get(socket)?.complete === false) endConnection(socket)
      else send(socket, statusOf(error))
      return
    }
    if (waiting.has(socket)) return
    waiting.add(socket)
    if (answer.req.complete) {
      answer.once('close', () => {
        waiting.delete(socket)
        answerUnreadable(error, socket)
      })
      return
    }
    // It is unknown where the next request would begin, so this connection must end.
    answer.shouldKeepAlive = false
    answer.once('close', () => {
      if (socket.writable) endConnection(socket)
    })
    breakBody(answer.req, new DomainError('invalid', messages[400] ?? ''))
  }
}

/** The newest request of each connection. */
const newest = new WeakMap<Socket, IncomingMessage>()

/** Records the newest request of each connection. Call this once for each server that uses `createUnreadableAnswer`. */
export function noteRequests(server: Server): void {
  server.on('request', request => newest.set(request.socket, request))
}

/** Whether the connection has an unanswered request whose headers have arrived. */
export const isAwaitingAnswer = (socket: Socket): boolean => openAnswer(socket) !== null

/** Makes the reader of a request's body fail. If nobody reads it yet, the first reader fails. */
export function breakBody(request: IncomingMessage, error: DomainError): void {
  if (request.listenerCount('error') > 0) return void request.emit('error', error)
  request.once('newListener', () => process.nextTick(breakBody, request, error))
}

/** The answer that a connection is waiting for. Node.js keeps it in a private field ("check at an upgrade", CONTRIBUTING.md). */
const openAnswer = (socket: Socket): ServerResponse<IncomingMessage> | null =>
  (socket as Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null })._httpMessage ?? null

function statusOf({ code, rawPacket }: ParseError): number {
  const start = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 1_024) : ''
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_INVALID_METHOD':
      return /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/.test(start) ? 501 : 400
    case 'HPE_INVALID_VERSION':
    case 'HPE_PAUSED_H2_UPGRADE':
      return /^[A-Z]+ \S+ HTTP\/\d(?:\.\d)?\r?\n/.test(start) ? 505 : 400
    default:
      return 400
  }
}
