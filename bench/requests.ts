/** The requests of each kind of load, and the expected answers. Runs in the client's process. */

import { readFileSync } from 'node:fs'

/** A request and the expected status of its answer. Any other status counts as unexpected. */
export type Call = {
  kind: string
  method: 'GET' | 'POST'
  path: string
  body: string
  status: number
  /** Further headers. */
  headers?: Record<string, string>
}

export type Load =
  | { kind: 'get'; paths: string[] }
  /**
   * GET requests whose paths are in a file, one in each line. Use this when there are too many paths for a command
   * line.
   */
  | { kind: 'get'; file: string }
  /** A GET whose caller already has the current version, so that the platform answers 304. */
  | { kind: 'known'; path: string; etag: string }
  /** A POST of the same body again and again. */
  | { kind: 'post'; path: string; body: string }
  /** Each request reserves a new order. `sell` also confirms it and `cancel` also cancels it, before the next order. */
  | { kind: 'reserve' | 'sell' | 'cancel'; operatorCode: string; tariffCode: string; prefix: string }
  /** A bank confirms another campaign each time: campaign number `first`, then the next ones. `numberedId` makes their ids. */
  | { kind: 'participate'; first: number }

/** Returns the next request, based on the previous one on the same connection and the body of its answer. */
export type NextCall = (before: { call: Call; body: string } | null) => Call

/** A number as a UUID; in SQL: `lpad(to_hex(number), 32, '0')::uuid`. */
export const numberedId = (number: number): string =>
  number
    .toString(16)
    .padStart(32, '0')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export function callsOf(load: Load): NextCall {
  if (load.kind === 'get') {
    let next = 0
    const paths = 'file' in load ? readFileSync(load.file, 'utf8').split('\n') : load.paths
    const calls: Call[] = paths.map(path => ({ kind: 'get', method: 'GET', path, body: '', status: 200 }))
    return () => calls[next++ % calls.length] as Call
  }
  if (load.kind === 'known') {
    const { path, etag } = load
    const headers = { 'If-None-Match': etag }
    return () => ({ kind: 'known', method: 'GET', path, body: '', status: 304, headers })
  }
  if (load.kind === 'participate') {
    let next = load.first
    return () => {
      const path = `/cashbacks/${numberedId(next++)}/confirm`
      return { kind: 'participate', method: 'POST', path, body: '{}', status: 201 }
    }
  }
  if (load.kind === 'post') {
    const call: Call = { kind: 'post', method: 'POST', path: load.path, body: load.body, status: 200 }
    return () => call
  }
  const { operatorCode, tariffCode, prefix } = load
  let orders = 0
  const reserve = (): Call => {
    const body = JSON.stringify({ operatorCode, tariffCode, externalId: `${prefix}-${orders++}` })
    return { kind: 'reserve', method: 'POST', path: '/esim/v1/orders', body, status: 201 }
  }
  if (load.kind === 'reserve') return reserve
  return before => {
    if (before?.call.kind !== 'reserve') return reserve()
    const at = before.body.indexOf('"orderId":"') + 11
    const kind = load.kind === 'sell' ? 'confirm' : 'cancel'
    const path = `/esim/v1/orders/${before.body.slice(at, at + 36)}/${kind}`
    return { kind, method: 'POST', path, body: '{}', status: 200 }
  }
}
