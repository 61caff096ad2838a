/** Schemas of the routes in `stock-routes.ts`: imports, withdrawals, counts of profiles, and rotations of keys. */
import Type from 'typebox'
import { lowBelowDays, paceDays, stockLevels } from '../esim/stock/desk.ts'
import { stockErrors } from '../esim/stock/file.ts'
import { maxDuplicateLines } from '../esim/stock/operations.ts'
import { withdrawalProblems } from '../esim/stock/withdrawal.ts'
import { nullable } from '../http/openapi/operations.ts'
import { count, flag, instant, text } from '../http/schemas.ts'
import { closed } from './request/documents.ts'

const code = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })

export const ImportQuery = Type.Object(
  {
    operator: code('Code of the mobile operator', 'kyivstar'),
    tariff: code('Code of the tariff', 'eu-10gb'),
    skipInvalid: Type.Boolean({
      default: false,
      description: 'true: faulty lines are skipped and listed; false: one faulty line refuses the whole file',
    }),
    dryRun: Type.Boolean({ default: false, description: 'true: the file is checked and counted, but not imported' }),
  },
  closed,
)

export const ImportLine = Type.Object(
  {
    reject: Type.Optional(
      Type.Object(
        {
          lineNumber: count('Line of the file, 1 being its header', 2),
          column: Type.String({ description: 'The column, or `line`' }),
          rule: Type.Enum(
            stockErrors.map(({ rule }) => rule),
            { description: 'What is wrong, for programs' },
          ),
          reason: Type.String({ description: 'What is wrong, in words' }),
        },
        { description: 'An invalid line. Its values are secret and not shown' },
      ),
    ),
    result: Type.Optional(
      Type.Object(
        {
          imported: count('New profiles', 1000),
          duplicates: count('Profiles that are in stock already, or earlier in the file'),
          duplicateLines: Type.Optional(
            Type.Array(
              Type.Object({
                lineNumber: count('Line of the file, 1 being its header', 2),
                otherActivationCode: flag(
                  'The profile of this ICCID is known to have another activation code. It stays as it is',
                ),
              }),
              { description: `The first ${maxDuplicateLines} duplicates; left out when there are none` },
            ),
          ),
          rejected: count('Invalid lines'),
        },
        { description: 'The last line' },
      ),
    ),
  },
  { title: 'ImportLine', description: 'One of the two' },
)

export const maxWithdrawn = 10_000
export const WithdrawBody = Type.Object(
  {
    iccids: Type.Array(Type.String({ maxLength: 32 }), {
      minItems: 1,
      maxItems: maxWithdrawn,
      description: 'The ICCIDs',
    }),
    operator: Type.Optional(code('Code of the mobile operator: profiles of others are not withdrawn', 'kyivstar')),
    tariff: Type.Optional(code('Code of a tariff of `operator`: profiles of others are not withdrawn', 'eu-10gb')),
  },
  closed,
)
export const Withdrawn = Type.Object(
  {
    withdrawn: count('Profiles that were taken out of sale', 3),
    notFree: count('Profiles that were not withdrawn'),
    problems: Type.Array(
      Type.Object({
        iccid: text('Last 4 digits of the ICCID', '4514'),
        line: count('Its place in `iccids`, from 1', 3),
        reason: Type.Enum([...withdrawalProblems], {
          description: 'unknown: not in stock; other-tariff: not of the given operator and tariff; withdrawn: before',
        }),
      }),
      { description: 'Why each of them was left, in the order given' },
    ),
  },
  { description: 'What was done' },
)

const stock = {
  operatorCode: text('Mobile operator', 'kyivstar'),
  tariffCode: text('Tariff', 'eu-10gb'),
  free: count('Profiles for sale', 400),
  reserved: count('Profiles that wait for a payment', 3),
  sold: count('Profiles that were sold', 1200),
  withdrawn: count('Profiles that were taken out of sale'),
}
export const Stock = Type.Array(Type.Object(stock), { description: 'Every tariff' })

export const StockDesk = Type.Array(
  Type.Object({
    ...stock,
    operatorName: text('Name of the mobile operator, in Ukrainian', 'Київстар'),
    operatorNameEn: text('Name of the mobile operator, in English', 'Kyivstar'),
    tariffName: text('Name of the tariff', 'Europe 10 GB'),
    isOffered: flag('The tariff is on sale and its operator active'),
    soldLastDays: count(`Profiles sold in the last ${paceDays} days`, 70),
    daysOfCover: nullable(
      Type.Number({
        description: 'Days until the free profiles run out at that pace; null: nothing was sold',
        examples: [40],
      }),
    ),
    level: Type.Enum([...stockLevels], {
      title: 'StockLevel',
      description: `out: on sale, but none is free; low: enough for less than ${lowBelowDays} days; enough: otherwise`,
    }),
    holders: Type.Array(
      Type.Object({ bank: text('Code of the bank', 'alpha'), reserved: count('Its live reservations', 12) }),
      { description: 'Banks that hold reservations of the tariff, most first' },
    ),
    importedAt: nullable(instant('When profiles were last loaded; null: never')),
  }),
  { description: 'Every tariff, in the order of the directory' },
)

export const TokenKey = Type.Object(
  {
    keyId: text('Names the new key pair: the `kid` of its tokens', '3f9a01bc'),
    signsFrom: Type.String({ format: 'date-time', description: 'From when on it signs; live tokens go on' }),
  },
  { description: 'The new key pair' },
)

export const RotationLine = Type.Object(
  {
    progress: Type.Optional(
      Type.Object(
        { done: count('Profiles checked so far'), total: count('Profiles in all') },
        { description: 'How far it has come' },
      ),
    ),
    result: Type.Optional(
      Type.Object({ resealed: count('Profiles that were encrypted again') }, { description: 'The last line' }),
    ),
    error: Type.Optional(Type.String({ description: 'Why it stopped' })),
  },
  { title: 'KeyRotationLine', description: 'One of the three' },
)
