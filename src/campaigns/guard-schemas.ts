/** The header `If-Match` (RFC 9110, 13.1.1), with which a request names the version that it is based on. */
import Type from 'typebox'
import { isKnown, matches } from '../http/answer/etag.ts'
import { staleVersion } from '../http/openapi/operations.ts'
import type { Guard } from './lifecycle/expected-version.ts'

const ifMatch = (description: string, example: string) =>
  Type.Object({ 'if-match': Type.Optional(Type.String({ maxLength: 4096, description, examples: [example] })) })

export const GuardHeaders = ifMatch(
  'The `ETag` of the details that the decision is based on: 412 if the campaign has changed since',
  '"7"',
)

/** The schema of the header `If-Match` in a bank's requests. */
export const BankGuardHeaders = ifMatch(
  'What the bank has seen: the `ETag` of `GET /portal/cashbacks/{cashbackId}`, or the quoted `updatedAt` of the campaign in the ' +
    'bank’s list. 412 if the terms or the bank’s own part have changed since; other banks’ decisions do not count',
  '"2026-11-22T20:00:00.000Z"',
)

export const stale = staleVersion('campaign')

/** The `ETag` header of an answer that has a version. */
export const etagHeader = { type: 'string', description: 'Version of the campaign, for `If-Match`', examples: ['"7"'] }

type Headers = { 'if-match'?: string | undefined; 'if-none-match'?: string | undefined }

/** Reads which versions a request accepts: a version that `If-Match` names and `If-None-Match` does not name. */
export function guardOf({ headers }: { headers: Headers }): Guard {
  const { 'if-match': expected, 'if-none-match': refused } = headers
  if (expected === undefined && refused === undefined) return {}
  return {
    isExpected: tags => tags.some(tag => matches(expected, tag)) && !tags.some(tag => isKnown(refused, tag)),
  }
}
