/** Schemas of campaign data that banks and merchants both read. */

import Type from 'typebox'
import { named, nullable } from '../../http/openapi/operations.ts'
import { pageOf, pagingParameters } from '../../http/paging.ts'
import { closed, count, instant, text, uuid } from '../../http/schemas.ts'
import { instantParameter } from '../../text/instant-parameter.ts'
import { Terminal } from '../campaign-schemas.ts'

const terminalFilters = {
  search: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Part of an identifier, a name or a location, in any case',
      examples: ['Kyiv'],
    }),
  ),
  since: instantParameter(
    'Only terminals that were added at or after it; a date alone means midnight UTC',
    '2026-11-21T00:00:00Z',
  ),
}

export const TerminalsQuery = Type.Object({ ...pagingParameters, ...terminalFilters }, closed)
export const TerminalsExportQuery = Type.Object(terminalFilters, closed)

export const TerminalPage = pageOf(
  Type.Object({ ...Terminal.properties, addedAt: instant('When it was added to the list') }),
  'One page of the terminals',
)

export const OwnTerminals = Type.Object(
  { terminals: Type.Array(Terminal, { description: 'The terminals that the author listed' }) },
  { description: 'The list' },
)

const part = {
  customersCount: count('Customers', 5000),
  formedAt: nullable(instant('When it was built; null: never', '2026-11-22T10:00:00.000Z')),
  sourceFileName: nullable(text('The file that it was built from', 'loyal-customers.csv')),
}

export const Segment = named(
  'SegmentOverview',
  Type.Object(
    {
      ...part,
      banks: Type.Array(Type.Object({ id: uuid('The bank'), name: text('Its name', 'Alpha Bank'), ...part }), {
        description: 'Every invited bank; to a bank, itself alone',
      }),
    },
    { description: 'The segment, in numbers' },
  ),
)
