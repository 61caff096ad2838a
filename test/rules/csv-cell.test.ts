/** Cells of the CSV files that people download (contract/security.md, "Transport, headers and files"). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvCell } from '../../src/text/csv-cell.ts'

const cases: [string, string | number | boolean | null, string][] = [
  ['null is an empty cell', null, ''],
  ['a number stays a number', -5.5, '-5.5'],
  ['a boolean', true, 'true'],
  ['a text is quoted', 'abc', '"abc"'],
  ['an empty text', '', '""'],
  ['quotes and separators', 'a "b", c', '"a ""b"", c"'],
  ['=', '=1+1', `"'=1+1"`],
  ['+', '+380', `"'+380"`],
  ['-', '-5', `"'-5"`],
  ['@', '@sum', `"'@sum"`],
  ['full-width =', '＝1', `"'＝1"`],
  ['full-width +', '＋1', `"'＋1"`],
  ['full-width -', '－1', `"'－1"`],
  ['full-width @', '＠1', `"'＠1"`],
  ['after a semicolon', 'x;=cmd;y;-z', `"x;'=cmd;y;'-z"`],
  ['after a tab', 'x\t=cmd', `"x\t'=cmd"`],
  ['after CR, LF and CRLF', 'x\r=a\n@b\r\n+c', `"x\r'=a\n'@b\r\n'+c"`],
  ['after several separators', ';;=a', `";;'=a"`],
  ['behind quotes, which a cell between semicolons loses', 'x;"=cmd"', `"x;'""=cmd"""`],
  ['not inside of a piece', 'a=b;c-d,e@f', '"a=b;c-d,e@f"'],
]

for (const [name, value, cell] of cases) test(name, () => assert.equal(csvCell(value), cell))
