import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DomainError } from '../../src/errors.ts'
import type { Logger } from '../../src/log.ts'
import { createFailureLog } from '../../src/server/failure-log.ts'

test('failures of one kind are logged once a minute, another kind at once', () => {
  const lines: { failures: number; err?: Error }[] = []
  const log = (line: (typeof lines)[number]) => void lines.push(line)
  const { failed, succeeded } = createFailureLog({ warn: log, info: log } as unknown as Logger)
  const away = new DomainError('unavailable', 'The database does not answer')
  for (let n = 0; n < 5; n++) failed('retention', away)
  for (let n = 0; n < 3; n++) failed('retention', new TypeError('a defect'))
  failed('sweep', away)
  succeeded('retention')
  assert.deepEqual(
    lines.map(({ failures, err }) => [failures, err?.message]),
    [
      [1, 'The database does not answer'],
      [5, 'a defect'],
      [1, 'The database does not answer'],
      [8, undefined],
    ],
  )
})
