import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVerifier, lastOf } from '../../src/audit-log/verifier.ts'

test('more checkpoints than a call takes arguments are checked like few', () => {
  const anchors = Array.from({ length: 300_000 }, (_, index) => ({ seq: index + 1, hash: Buffer.alloc(32) }))
  assert.equal(lastOf(anchors), 300_000)
  assert.equal(lastOf([]), 0)
  const { fault } = createVerifier({ all: Buffer.alloc(32), seq: 0 } as never, anchors).end()
  assert.equal(fault?.reason, 'cut-off')
})
