/** The program `perkline`: the table of its commands, and its start. Each command loads only what it needs. */
import './first-process.ts'
import { Command } from 'commander'
import type { AuditOptions } from './cli/audit.ts'
import type {
  ExportOptions as ExportLogOptions,
  ListOptions as ListEntriesOptions,
  VerifyOptions as VerifyLogOptions,
} from './cli/audit-log.ts'
import type { VerifyBackupOptions } from './cli/backup.ts'
import type { IssueOptions } from './cli/credentials.ts'
import type { CustomerOptions } from './cli/customers.ts'
import { end, endAfterErrors } from './cli/ending.ts'
import type { AccountOptions, ReplayOptions } from './cli/endpoints.ts'
import type { HealthOptions } from './cli/health.ts'
import type { OutputOptions } from './cli/output.ts'
import type { ImportOptions, WithdrawOptions } from './cli/profiles.ts'
import type { DaysOptions, FindOrderOptions } from './cli/statements.ts'
import {
  examples,
  filled,
  finish,
  run,
  sentence,
  showHelp,
  someOf,
  term,
  typeOrObject,
  wholeSeconds,
} from './cli/usage.ts'
import type { PolicyOptions, UserOptions } from './cli/users.ts'
import { services } from './config.ts'
import { rolesOfPeople, rolesOfSystems } from './roles.ts'
import { version } from './version.ts'

const asksForJson = process.argv.includes('--json')

const program = new Command('perkline')
  .exitOverride()
  .enablePositionalOptions()
  .configureOutput({ outputError: (text, write) => write(sentence(text)) })
  .helpCommand(false)
  .version(asksForJson ? JSON.stringify(version) : version, '-V, --version', 'show the version')
  .usage('COMMAND [options]')
  .description('Runs Perkline, and manages a running platform.')
  .configureHelp({ subcommandTerm: term })
  .addHelpText(
    'after',
    `${examples('serve', 'apply directory.yaml', 'credentials issue --bank alpha --role ADMIN', 'stock --json')}

serve, migrate, reset, doctor, keys fingerprint and backup verify work on this machine; serve and migrate read a file .env in the working folder. All others call a
running platform: PERKLINE_URL is its address (default: http://127.0.0.1:8080), OPERATOR_KEY or OPERATOR_KEY_FILE its key (default:
operator.key in DATA_DIR).`,
  )

program.commandsGroup('Run')
program
  .command('serve')
  .description('Run the platform')
  .option('--only <SERVICES>', `only these, with commas: ${services.join(', ')}`, someOf(services))
  .addHelpText('after', `${examples('serve', 'serve --only esim,auth')}\n\nIts settings: perkline help settings`)
  .action(run<OutputOptions & { only?: string }>(async ({ only }) => (await import('./server/serve.ts')).serve(only)))
program
  .command('migrate')
  .description('Bring the database to this version')
  .option(
    '--check',
    'change nothing: list what would be applied; exit code 3 when the previous version could not go on serving',
  )
  .option('--wait <SECONDS>', 'wait for so long for a database that cannot be reached', wholeSeconds)
  .addHelpText('after', examples('migrate --check', 'migrate', 'migrate --wait 600'))
  .action(
    run<OutputOptions & { check?: true; wait?: number }>(async ({ check, wait = 0, json = false }) => {
      const { checkMigrations, migrateOnly } = await import('./server/migrating.ts')
      await (check ? checkMigrations(json) : migrateOnly({ json, wait }))
    }),
  )
program
  .command('reset')
  .description('Delete the embedded database of a sandbox, with its keys, and start over')
  .action(run(async options => (await import('./server/reset.ts')).reset(options.json === true)))

program
  .command('health')
  .description('Ask a process whether it lives, or takes requests; needs no key')
  .option('--ready', 'whether it takes requests')
  .option('--wait <SECONDS>', 'ask again for so long until it does', wholeSeconds)
  .option('--url <URL>', 'its address (default: PERKLINE_URL, else HOST and PORT)', filled)
  .addHelpText('after', examples('health', 'health --ready --wait 60', 'health --ready --url http://127.0.0.1:8081'))
  .action(run<HealthOptions>(async options => (await import('./cli/health.ts')).askHealth(options)))

program.commandsGroup('Partners and access')
program
  .command('apply')
  .description(
    'Apply a directory file: banks, merchants, mobile operators and tariffs. What the file leaves out stays as it is',
  )
  .argument('<FILE.yaml>', 'the directory', filled)
  .option('--dry-run', 'list what would change, and change nothing')
  .addHelpText('after', examples('apply directory.yaml --dry-run', 'apply directory.yaml'))
  .action(
    run<OutputOptions & { dryRun?: boolean }>(async (options, [path]) =>
      (await import('./cli/directory.ts')).applyDirectory(path, options),
    ),
  )

const credentials = program
  .command('credentials')
  .description('Issue, list, rotate or revoke the clientId and secret of a bank or a merchant')
credentials
  .command('issue')
  .description('Issue a clientId and a secret; the secret is shown only once')
  .option('--bank <CODE>', 'for this bank', filled)
  .option('--merchant <CODE>', 'for this merchant', filled)
  .option(
    '--role <ROLE>',
    `of a bank’s credential: ${rolesOfSystems.bank.join(', ')}; each of them may sell eSIMs`,
    filled,
  )
  .option('--label <TEXT>', 'a name to recognize it by')
  .addHelpText(
    'after',
    examples(
      'credentials issue --bank alpha --role ADMIN --label "production backend"',
      'credentials issue --merchant grocer',
    ),
  )
  .action(run<IssueOptions>(async options => (await import('./cli/credentials.ts')).issueCredential(options)))
credentials
  .command('list')
  .description('Show live and lately revoked credentials, without their secrets')
  .action(run(async options => (await import('./cli/credentials.ts')).listCredentials(options)))
credentials
  .command('rotate')
  .description('Issue a new secret; the previous one works until the overlap ends')
  .argument('<CLIENT_ID>', 'the credential', filled)
  .option('--overlap <DURATION>', 'how long both work, ISO 8601 (default: PT24H)', filled)
  .addHelpText('after', examples('credentials rotate CLIENT_ID', 'credentials rotate CLIENT_ID --overlap PT0S'))
  .action(
    run<OutputOptions & { overlap?: string }>(async (options, [clientId]) =>
      (await import('./cli/credentials.ts')).rotateCredential(clientId, options),
    ),
  )
credentials
  .command('revoke')
  .description('Revoke a credential; its tokens end within 10 seconds')
  .argument('<CLIENT_ID>', 'the credential', filled)
  .action(
    run(async (options, [clientId]) => (await import('./cli/credentials.ts')).revokeCredential(clientId, options)),
  )

const users = program.command('users').description('Add, list, disable or erase the users of the portal')
users
  .command('add')
  .description('Add a user; the password is read from standard input, or asked for')
  .option('--merchant <CODE>', `of this merchant; roles: ${rolesOfPeople.retailer.join(', ')}`, filled)
  .option('--bank <CODE>', `of this bank; roles: ${rolesOfPeople.bank.join(', ')}`, filled)
  .option('--platform', `of the platform; roles: ${rolesOfPeople.platform.join(', ')}`)
  .requiredOption('--login <LOGIN>', 'name to log in with', filled)
  .requiredOption('--role <ROLE>', 'what the user may do', filled)
  .option('--email <ADDRESS>', 'the address for mails to the user', filled)
  .addHelpText(
    'after',
    examples(
      'users add --merchant grocer --login olena --role editor',
      'users add --bank alpha --login petro --role ADMIN < password.txt',
    ),
  )
  .action(run<UserOptions>(async options => (await import('./cli/users.ts')).addUser(options)))
users
  .command('list')
  .description('Show all users')
  .action(run(async options => (await import('./cli/users.ts')).listUsers(options)))
users
  .command('policy')
  .description('Show the security policy of an account, or take its address lists off after a lock-out')
  .option('--merchant <CODE>', 'of this merchant', filled)
  .option('--bank <CODE>', 'of this bank', filled)
  .option('--platform', 'of the platform')
  .option('--addresses-off', 'let its people and systems in from everywhere')
  .addHelpText('after', examples('users policy --bank alpha', 'users policy --bank alpha --addresses-off'))
  .action(run<PolicyOptions>(async options => (await import('./cli/users.ts')).usersPolicy(options)))
users
  .command('disable')
  .description('Disable a user; access ends within 10 seconds')
  .argument('<LOGIN>', 'the user', filled)
  .action(run(async (options, [login]) => (await import('./cli/users.ts')).disableUser(login, options)))
users
  .command('erase')
  .description('Delete all that names a disabled user, for good; the login is free again')
  .argument('<LOGIN>', 'the user', filled)
  .action(run(async (options, [login]) => (await import('./cli/users.ts')).eraseUser(login, options)))

program.commandsGroup('eSIM stock')
const profiles = program.command('profiles').description('Import eSIM profiles, or take them out of sale')
profiles
  .command('import')
  .description('Load a CSV file of profiles: iccid,msisdn,pin1,activationCode')
  .argument('<FILE.csv>', 'the stock file', filled)
  .requiredOption('--operator <CODE>', 'the mobile operator', filled)
  .requiredOption('--tariff <CODE>', 'its tariff', filled)
  .option('--skip-invalid', 'import the good lines; without it, one bad line keeps the whole file out')
  .option('--rejects <FILE>', 'write the bad lines with their reasons here (with --skip-invalid)', filled)
  .addHelpText(
    'after',
    examples(
      'profiles import stock.csv --operator kyivstar --tariff eu-10gb',
      'profiles import stock.csv --operator kyivstar --tariff eu-10gb --skip-invalid --rejects rejects.csv',
    ),
  )
  .action(
    run<ImportOptions>(async (options, [path]) => (await import('./cli/profiles.ts')).importProfiles(path, options)),
  )
profiles
  .command('withdraw')
  .description('Take free profiles out of sale for good')
  .argument('<ICCID...>', 'the profiles')
  .option('--operator <CODE>', 'withdraw only profiles of this mobile operator', filled)
  .option('--tariff <CODE>', 'withdraw only profiles of this tariff of the operator', filled)
  .action(
    run<WithdrawOptions>(async (options, iccids) =>
      (await import('./cli/profiles.ts')).withdrawProfiles(iccids, options),
    ),
  )
program
  .command('stock')
  .description('Show how many profiles each tariff has: free, reserved, sold, withdrawn')
  .action(run(async options => (await import('./cli/stock.ts')).showStock(options)))

program
  .command('orders')
  .description('Look for eSIM orders')
  .command('find')
  .description('Find orders by the bank’s own identifier, byte by byte')
  .requiredOption('--external-id <ID>', 'the identifier', filled)
  .option('--bank <CODE>', 'of this bank only', filled)
  .addHelpText(
    'after',
    examples('orders find --external-id payment-42', 'orders find --external-id payment-42 --bank alpha'),
  )
  .action(run<FindOrderOptions>(async options => (await import('./cli/statements.ts')).findOrders(options)))
const statements = program
  .command('statements')
  .description('List, show, export or check the daily statements of banks')
statements
  .command('list')
  .description('List closed statements, and the days that should be closed and are not')
  .option('--bank <CODE>', 'of this bank only', filled)
  .option('--from <DAY>', 'first day (default: 30 days before the last)', filled)
  .option('--to <DAY>', 'last day (default: today)', filled)
  .addHelpText('after', examples('statements list', 'statements list --bank alpha --from 2026-11-01 --to 2026-11-30'))
  .action(run<DaysOptions>(async options => (await import('./cli/statements.ts')).listStatements(options)))
statements
  .command('show')
  .description('Show one statement')
  .argument('<ID>', 'the statement', filled)
  .action(run(async (options, [id]) => (await import('./cli/statements.ts')).showStatement(id, options)))
statements
  .command('export')
  .description('Write the files of a bank’s statements, one after the other, byte for byte')
  .argument('<FILE.csv>', 'where to', filled)
  .requiredOption('--bank <CODE>', 'the bank', filled)
  .option('--from <DAY>', 'first day (default: 30 days before the last)', filled)
  .option('--to <DAY>', 'last day (default: today)', filled)
  .addHelpText('after', examples('statements export november.csv --bank alpha --from 2026-11-01 --to 2026-11-30'))
  .action(
    run<DaysOptions>(async (options, [path]) => (await import('./cli/statements.ts')).exportStatements(path, options)),
  )
statements
  .command('verify')
  .description(
    'Check files, their chain, numbers and sums, and that each sale is on one; exit code 1 when they are broken',
  )
  .option('--bank <CODE>', 'of this bank only', filled)
  .action(
    run<OutputOptions & { bank?: string }>(async options =>
      (await import('./cli/statements.ts')).verifyStatements(options),
    ),
  )

program.commandsGroup('Campaigns')
const customers = program.command('customers').description('Import, forget or export the customers of a bank')
customers
  .command('import')
  .description('Load a CSV file of a bank’s customers: one column, customerId')
  .argument('<FILE.csv>', 'the customers', filled)
  .requiredOption('--bank <CODE>', 'the bank they belong to', filled)
  .addHelpText('after', examples('customers import customers.csv --bank alpha'))
  .action(
    run<CustomerOptions>(async (options, [path]) =>
      (await import('./cli/customers.ts')).importCustomers(path, options),
    ),
  )
customers
  .command('forget')
  .description('Take customers out of the directory and of segments; one column, customerId')
  .argument('<FILE.csv>', 'the customers', filled)
  .requiredOption('--bank <CODE>', 'the bank they belong to', filled)
  .addHelpText('after', examples('customers forget leaving.csv --bank alpha'))
  .action(
    run<CustomerOptions>(async (options, [path]) =>
      (await import('./cli/customers.ts')).forgetCustomers(path, options),
    ),
  )
customers
  .command('export')
  .description('Show everything that is kept of one customer')
  .argument('<ID>', 'the customerId', filled)
  .requiredOption('--bank <CODE>', 'the bank it belongs to', filled)
  .addHelpText('after', examples('customers export 100045 --bank alpha --json'))
  .action(
    run<CustomerOptions>(async (options, [id]) => (await import('./cli/customers.ts')).exportCustomer(id, options)),
  )
program
  .command('campaigns')
  .description('Manage campaigns')
  .command('complete')
  .description('End the wait after the compensation was received')
  .argument('<ID>', 'the campaign', filled)
  .action(run(async (options, [id]) => (await import('./cli/campaigns.ts')).completeCampaign(id, options)))

program.commandsGroup('Events')
const ofAccount = (command: Command) =>
  command
    .option('--bank <CODE>', 'of this bank', filled)
    .option('--merchant <CODE>', 'of this merchant', filled)
    .option('--platform', 'of the platform itself')
const endpoints = program
  .command('endpoints')
  .description('List, switch or repeat the endpoints that events are sent to')
ofAccount(endpoints.command('list').description('Show endpoints, disabled ones first')).action(
  run<AccountOptions>(async options => (await import('./cli/endpoints.ts')).listEndpoints(options)),
)
endpoints
  .command('disable')
  .description('Disable an endpoint; only the operator enables it again')
  .argument('<ID>', 'the endpoint', filled)
  .action(run(async (options, [id]) => (await import('./cli/endpoints.ts')).switchEndpoint(id, 'disable', options)))
endpoints
  .command('enable')
  .description('Enable an endpoint; it goes on where it was')
  .argument('<ID>', 'the endpoint', filled)
  .action(run(async (options, [id]) => (await import('./cli/endpoints.ts')).switchEndpoint(id, 'enable', options)))
endpoints
  .command('rotate-secret')
  .description('Give an endpoint a new secret; the previous one signs, too, until the overlap ends')
  .argument('<ID>', 'the endpoint', filled)
  .option('--overlap <DURATION>', 'how long both sign, ISO 8601 (default: PT24H)', filled)
  .action(
    run<OutputOptions & { overlap?: string }>(async (options, [id]) =>
      (await import('./cli/endpoints.ts')).rotateEndpointSecret(id, options),
    ),
  )
endpoints
  .command('replay')
  .description('Send events to an endpoint again')
  .argument('<ID>', 'the endpoint', filled)
  .requiredOption('--from <T>', 'a sequence or an instant, inclusive', filled)
  .option('--to <T>', 'a sequence or an instant, inclusive (default: now)', filled)
  .option('--only <WHICH>', 'failed: what failed last time; all (default)', filled)
  .addHelpText('after', examples('endpoints replay ID --from 2026-11-22T00:00:00Z --only failed'))
  .action(run<ReplayOptions>(async (options, [id]) => (await import('./cli/endpoints.ts')).replayEndpoint(id, options)))
const events = program.command('events').description('Look at feeds of events')
ofAccount(events.command('tail').description('Show the newest events of a feed, the oldest first'))
  .option('--limit <N>', 'how many (default: 100)', filled)
  .action(
    run<AccountOptions & { limit?: string }>(async options => (await import('./cli/events.ts')).tailEvents(options)),
  )
events
  .command('status')
  .description('Show how far the events have come; exit code 1 when they are a minute behind')
  .action(run(async options => (await import('./cli/events.ts')).showEventsStatus(options)))
events
  .command('restart-feeds')
  .description('Begin every feed anew, after a restore to an earlier time: readers then know')
  .action(run(async options => (await import('./cli/events.ts')).restartFeeds(options)))

program.commandsGroup('Safety')
program
  .command('doctor')
  .description(
    'Check what this machine’s settings lead to: database, mail, Redis, TLS, clock, disk; exit code 1 when something is wrong',
  )
  .addHelpText('after', examples('doctor', 'doctor --json'))
  .action(run(async options => (await import('./cli/doctor.ts')).examine(options)))
program
  .command('support-bundle')
  .description('Write versions, sizes, counts and metrics to a file for support; no rows, no secrets')
  .argument('<FILE.tar.gz>', 'the file to write', filled)
  .addHelpText('after', examples('support-bundle perkline-support.tar.gz'))
  .action(run(async (options, [path]) => (await import('./cli/support-bundle.ts')).makeSupportBundle(path, options)))
program
  .command('backup')
  .description('Prove that a restored copy of the database is whole')
  .command('verify')
  .description('Check a restored copy on which no platform serves; it is only read. Needs MASTER_KEY')
  .option(
    '--database-url <URL>',
    'the copy (default: DATABASE_URL or DATABASE_URL_FILE); every user of this machine sees an option, so give a password by the file',
    filled,
  )
  .option('--expect-after <INSTANT>', 'its newest record must not be older', filled)
  .option('--live <URL>', 'the platform that it is a copy of: show which counts differ', filled)
  .addHelpText(
    'after',
    examples(
      'backup verify',
      'backup verify --database-url postgres://localhost:5433/perkline --expect-after 2026-11-23T04:00:00Z --json',
    ),
  )
  .action(run<VerifyBackupOptions>(async options => (await import('./cli/backup.ts')).verifyBackup(options)))
program
  .command('audit')
  .description('Check that all records agree with each other; exit code 1 when they do not')
  .option('--resume', 'continue the last audit if it was interrupted; otherwise begin a new one')
  .action(run<AuditOptions>(async options => (await import('./cli/audit.ts')).auditBooks(options)))
const auditLog = program.command('audit-log').description('Who did what: list, export and check the audit log')
auditLog
  .command('list')
  .description('Show the newest entries')
  .option('--account <ID>', 'only those of this bank or merchant', filled)
  .option('--action <ACTION>', 'exactly this action', filled)
  .option('--actor <ID>', 'the clientId of a system, the id of a person', filled)
  .option('--object <TYPE[:ID]>', 'a type of object, or one object', typeOrObject)
  .option('--from <INSTANT>', 'what happened at or after it', filled)
  .option('--to <INSTANT>', 'what happened before it', filled)
  .option('--limit <NUMBER>', 'at most so many, up to 500', filled)
  .addHelpText('after', examples('audit-log list --action credential.issued', 'audit-log list --object credential'))
  .action(run<ListEntriesOptions>(async options => (await import('./cli/audit-log.ts')).listEntries(options)))
auditLog
  .command('export')
  .description('Write the log to a file, one JSON object in each line')
  .argument('<FILE.jsonl>', 'the file to write', filled)
  .option('--account <ID>', 'only that of this bank or merchant', filled)
  .addHelpText('after', examples('audit-log export audit.jsonl'))
  .action(
    run<ExportLogOptions>(async (options, [path]) => (await import('./cli/audit-log.ts')).exportLog(path, options)),
  )
auditLog
  .command('verify')
  .description(
    'Check the chain; exit code 1 at the first entry that does not fit. Without --file the platform that is to be checked answers: ' +
      'only a file, checked against checkpoints that were kept elsewhere, is proof',
  )
  .option('--file <FILE.jsonl>', 'an exported log; no platform is needed', filled)
  .option('--anchors <FILE>', 'checkpoints, as AUDIT_ANCHOR_FILE has them', filled)
  .option(
    '--keys <FILE>',
    'the public keys (/.well-known/perkline-keys.json); without it signatures are not checked',
    filled,
  )
  .addHelpText(
    'after',
    examples('audit-log verify', 'audit-log verify --file audit.jsonl --anchors anchors.txt --keys perkline-keys.json'),
  )
  .action(run<VerifyLogOptions>(async options => (await import('./cli/audit-log.ts')).verifyLog(options)))
auditLog
  .command('checkpoint')
  .description('Sign how far the log has come, as happens every hour')
  .addHelpText('after', examples('audit-log checkpoint --json'))
  .action(run(async options => (await import('./cli/audit-log.ts')).makeCheckpoint(options)))
const keys = program.command('keys').description('Change the key that encrypts secrets, or show which one it is')
keys
  .command('fingerprint')
  .description('Show 8 digits that identify the MASTER_KEY of this machine; the key itself is not shown')
  .action(run(async options => (await import('./cli/fingerprint.ts')).showFingerprint(options)))
keys
  .command('rotate')
  .description('Re-encrypt everything with the first key of MASTER_KEY, while the platform keeps running')
  .option('--tokens', 'make a new key pair for access tokens instead; live tokens stay valid')
  .action(
    run<OutputOptions & { tokens?: true }>(async options => {
      const { rotateKeys, rotateTokenKey } = await import('./cli/keys.ts')
      await (options.tokens ? rotateTokenKey(options) : rotateKeys(options))
    }),
  )

program.commandsGroup('Help')
program
  .command('help')
  .description('Show help on a command; `perkline help settings` lists the settings')
  .argument('[COMMAND...]')
  .addHelpText('after', examples('help profiles import', 'help settings'))
  .action(
    run(async (options, names) => {
      if (names[0] === 'settings') (await import('./cli/settings.ts')).showSettings(options)
      else showHelp(program, names)
    }),
  )

finish(program, 'perkline')
endAfterErrors(program)
try {
  await program.parseAsync()
} catch (error) {
  end(error)
}
