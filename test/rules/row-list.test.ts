/** Lists of rows as parameters of a statement. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowList } from '../../src/db/row-list.ts'

const rows = rowList(3, { bankId: 'uuid', name: 'text', at: 'timestamptz' })

test('each field is a column with an array of its own', () => {
  assert.equal(rows.from('i'), 'unnest($3::uuid[], $4::text[], $5::timestamptz[]) as i (bank_id, name, at)')
  assert.equal(rows.array('name'), '$4::text[]')
  assert.equal(rows.next, 6)
})

test('a numbered list has a further column', () => {
  assert.equal(
    rows.from('i', 'n'),
    'unnest($3::uuid[], $4::text[], $5::timestamptz[]) with ordinality as i (bank_id, name, at, n)',
  )
})

test('values are in the order of the columns, whatever the order of the fields in a row', () => {
  const at = new Date('2026-01-02T03:04:05.006Z')
  const values = rows.values([
    { at, name: 'Alpha', bankId: 'a' },
    { bankId: 'b', name: null, at: null },
  ])
  assert.deepEqual(values, [
    ['a', 'b'],
    ['Alpha', null],
    ['2026-01-02T03:04:05.006Z', null],
  ])
})
