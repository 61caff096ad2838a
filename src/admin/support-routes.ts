/**
 * The platform's part of the support bundle (contract/production.md, "Commands"). External support staff read the
 * bundle, so it has no rows of tables, no values of the platform's settings and no secrets.
 */
import process from 'node:process'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { realNow } from '../clock.ts'
import { DomainError } from '../errors.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { count, instant, text } from '../http/schemas.ts'
import { instantRule, readInstant } from '../text/instant.ts'
import { instantParameter } from '../text/instant-parameter.ts'
import { countTables } from '../upkeep/copy-store.ts'
import { readDatabaseState } from '../upkeep/support-store.ts'
import { version } from '../version.ts'
import { closed, operation, operatorErrors } from './request/documents.ts'

/** `support` has the facts that a process knows about itself. */
export type SupportDeps = ReadDeps & {
  support: {
    mode: string
    services: readonly string[]
    instance: string
    /** The names of the settings that are set, without their values. */
    settingsGiven: readonly string[]
    readMetrics(): Promise<string>
  }
}

const Support = Type.Object(
  {
    at: instant('When this was read, in real time'),
    version: text('Version of the program', '0.3.0'),
    node: text('Version of Node.js', 'v24.21.0'),
    platform: text('Operating system and processor', 'linux x64'),
    instance: text('Name of the process that answers', 'perkline-1'),
    mode: text('`sandbox` or `live`', 'live'),
    services: Type.Array(Type.String(), { description: 'What this process runs' }),
    uptimeSeconds: count('Since this process was started', 86_400),
    settingsGiven: Type.Array(Type.String(), { description: 'Names of the settings that are set; never their values' }),
    database: Type.Object(
      {
        sizeBytes: count('Size of the database', 1_000_000),
        settings: Type.Array(
          Type.Object(
            { name: text('Setting of PostgreSQL', 'fsync'), value: text('Its value', 'on') },
            { title: 'DatabaseSetting', description: 'A setting' },
          ),
          { description: 'Settings of the server that decide over safety and speed' },
        ),
        migrations: Type.Array(
          Type.Object(
            { version: count('Number', 1), name: text('Name', 'partners'), appliedAt: instant('When it was applied') },
            { title: 'AppliedMigration', description: 'A migration' },
          ),
          { description: 'What the schema is made of' },
        ),
        tables: Type.Array(
          Type.Object(
            {
              table: text('Name', 'orders'),
              estimatedRows: count('About how many rows it has', 1_000),
              bytes: count('Size with its indexes', 65_536),
            },
            { title: 'TableSize', description: 'A table' },
          ),
          { description: 'Every table' },
        ),
        connections: Type.Array(
          Type.Object(
            {
              program: text('Name that the program gives itself', 'perkline/0.3.0'),
              state: text('What PostgreSQL says of them', 'idle'),
              count: count('How many', 12),
            },
            { title: 'DatabaseConnections', description: 'Connections of one program in one state' },
          ),
          { description: 'Connections to this database' },
        ),
      },
      { description: 'The database' },
    ),
  },
  { description: 'The state of the platform, for support' },
)

const TableCounts = Type.Object(
  {
    tables: Type.Array(
      Type.Object(
        { table: text('Name', 'orders'), rows: count('Rows', 1_000) },
        { title: 'TableCount', description: 'A table' },
      ),
      { description: 'Every table' },
    ),
  },
  { description: 'Rows, counted one by one' },
)

const CountQuery = Type.Object(
  {
    until: instantParameter(
      'Counts only rows made until then, in tables that record when a row was made; a date alone means midnight UTC',
      '2026-11-21T00:00:00Z',
    ),
  },
  closed,
)

export const supportAdminRoutes: FastifyPluginAsyncTypebox<SupportDeps> = async (
  app,
  { pageReads, costlyReads, support },
) => {
  app.get(
    '/support',
    {
      config: { needsAdmin: true },
      schema: {
        ...operation(
          'Upkeep',
          'readSupport',
          'The state of the platform for support',
          'Versions, names of settings, sizes and metrics: no rows and no secrets. For the role `admin`.',
        ),
        response: { 200: Support, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const { migrations, ...database } = await readDatabaseState(await pageReads.begin(request, reply))
      return {
        at: realNow().toISOString(),
        version,
        node: process.version,
        platform: `${process.platform} ${process.arch}`,
        instance: support.instance,
        mode: support.mode,
        services: [...support.services],
        uptimeSeconds: Math.round(process.uptime()),
        settingsGiven: [...support.settingsGiven],
        database: {
          ...database,
          migrations: migrations.map(({ appliedAt, ...migration }) => ({
            ...migration,
            appliedAt: appliedAt.toISOString(),
          })),
        },
      }
    },
  )

  // This route returns the same text as METRICS_PORT. The OpenAPI document leaves it out, because an example would have
  // thousands of lines.
  app.get('/support/metrics', { config: { needsAdmin: true }, schema: { hide: true } }, async () => ({
    metrics: await support.readMetrics(),
  }))

  app.get(
    '/support/counts',
    {
      config: { needsAdmin: true },
      schema: {
        ...operation(
          'Upkeep',
          'countRows',
          'Count the rows of every table',
          'To compare a restored copy with the platform. For the role `admin`.',
        ),
        querystring: CountQuery,
        response: { 200: TableCounts, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const { until } = request.query
      const instant = until === undefined ? null : readInstant(until)
      if (until !== undefined && instant === null)
        throw new DomainError('invalid', [{ field: 'until', ...instantRule }])
      return { tables: await countTables(await costlyReads.begin(request, reply), instant) }
    },
  )
}
