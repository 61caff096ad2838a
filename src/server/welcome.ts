/**
 * What `npm start` prints for people: the addresses that this process serves, and after the first start example
 * commands to paste and the sample credentials.
 */
import { resolve } from 'node:path'
import { type Config, type Service, services } from '../config.ts'
import type { SampleCredential, Samples } from '../sandbox/samples.ts'
import { placesOf } from './places.ts'

/**
 * Returns the text to print. It always has the addresses, and in a sandbox with the embedded database also the next
 * steps. If this start made sample data, the text also has the sample credentials and logins. It has commands to paste
 * only if this process runs all services that they need. In live mode or with `DATABASE_URL`, the text is empty if
 * there is no terminal and no new sample data.
 *
 * @param running the services that this process runs
 * @param samples the credentials and logins made at this start, which are shown only once; null: none were made
 * @param onTerminal whether a terminal shows the text
 */
export function welcome(
  config: Config,
  running: readonly Service[],
  samples: Samples | null,
  onTerminal: boolean,
): string {
  const isOwn = config.mode === 'sandbox' && config.databaseUrl === null
  if (!samples && !onTerminal && !isOwn) return ''
  const parts = [
    addresses(config, running),
    ...(samples && pasted.every(service => running.includes(service)) ? [linesToPaste(config, samples)] : []),
    ...(samples ? [secrets(samples)] : []),
    ...(isOwn ? [nextSteps(config)] : []),
  ]
  return `\n${parts.join('\n\n')}\n\n`
}

/** The services that are needed by the commands to paste. */
const pasted: readonly Service[] = ['auth', 'cashback', 'esim', 'partner', 'portal']

const linesToPaste = (
  { publicUrl }: Config,
  { credentials }: Samples,
): string => `Paste these lines into another terminal:

${tokenLines(publicUrl, credentials)}
${esimLines}
${campaignLines}
${settlementLines}
${eventLines}`

/** Secrets come near the end of the text, so that they are still visible in the terminal after the start. */
function secrets({ credentials, logins }: Samples): string {
  const credentialLines = credentials.map(
    ({ partner, clientId, secret }) => `  ${partner.padEnd(9)} clientId ${clientId}  secret ${secret}`,
  )
  const loginLines = logins.map(
    ({ account, login, password }) => `  ${account.padEnd(9)} login ${login.padEnd(9)} password ${password}`,
  )
  return `Sample credentials of systems, shown only once (alpha and beta are banks, grocer and voltshop are merchants):
${credentialLines.join('\n')}

Sample logins of the portal, shown only once:
${loginLines.join('\n')}`
}

function addresses({ publicUrl, mode, dataDir, databaseUrl, admin }: Config, running: readonly Service[]): string {
  const { portal, documentation } = placesOf(service => running.includes(service))
  const staff = admin === null ? publicUrl : `http://${admin.host}:${admin.port}`
  const rows = [
    ['Web portal', portal, publicUrl, ''],
    ['Campaign API', documentation.campaigns, publicUrl, ''],
    ['eSIM API', documentation.esim, publicUrl, ''],
    ['Partner API', documentation.partner, publicUrl, ' (events, webhooks, orders, statements)'],
    ['Operator API', documentation.operator, staff, ' (for platform users who are logged in to the portal)'],
  ] as const
  const data = databaseUrl === null ? `; its data is in ${dataDir}` : ''
  const isSome = services.some(service => !running.includes(service))
  return [
    `Perkline is running in ${mode} mode${data}`,
    '',
    ...rows.flatMap(([name, path, at, use]) => (path ? [`  ${name.padEnd(13)} ${at}${path}${use}`] : [])),
    ...(isSome ? [`  This process runs only ${running.join(', ')}. Another process serves the rest.`] : []),
  ].join('\n')
}

const nextSteps = (
  config: Config,
): string => `New credentials: ${where(config)}npx perkline credentials issue --bank alpha --role ADMIN   (or: --merchant grocer)
                 ${where(config)}npx perkline credentials list, then: npx perkline credentials rotate CLIENT_ID
Start over:      stop the platform, then: ${folder(config)}npm run reset && ${toStart(config)}npm start`

/** Returns the setting of the data folder, for a command line. It is empty for the default folder. */
const folder = ({ dataDir }: Config): string => (dataDir === resolve('data') ? '' : `DATA_DIR='${dataDir}' `)

/** Returns the settings with which `npm start` starts this platform again. */
const toStart = (config: Config): string => folder(config) + (config.port === 8080 ? '' : `PORT=${config.port} `)

/**
 * Returns the settings that a command needs to find this platform. The text is empty if all settings have their
 * defaults.
 */
function where(config: Config): string {
  const address = config.admin ?? { host: '127.0.0.1', port: config.port }
  const url = address.port === 8080 ? '' : `PERKLINE_URL=http://${address.host}:${address.port} `
  return folder(config) + url
}

/*
 * The commands to paste run in bash, zsh and dash, also when pasted as one block. They contain no comments, because an
 * interactive zsh does not accept comments, and need no word splitting of unquoted variables. The campaign ends one
 * hour after the commands are pasted. So they move the sandbox clock by only an hour, and the other samples stay valid.
 * GNU's or BSD's `date` computes the dates when the commands are pasted, which may be days after the start.
 */
const timeFunction =
  'in_seconds() { at=$(($(date +%s) + $1)); date -u -d @$at +%FT%TZ 2>/dev/null || date -u -r $at +%FT%TZ; }'

function tokenLines(publicUrl: string, credentials: SampleCredential[]): string {
  const bodyOf = (name: string) => {
    const { clientId, secret } = credentials.find(({ partner }) => partner === name) ?? { clientId: '', secret: '' }
    return JSON.stringify({ clientId, secret })
  }
  return `URL=${publicUrl}; JSON='content-type: application/json'
field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
${timeFunction}
echo '== 1. Get a token for the bank and for the merchant'
ALPHA=$(curl -s $URL/getToken/auth -H "$JSON" -d '${bodyOf('alpha')}' | field access_token)
GROCER=$(curl -s $URL/getToken/auth -H "$JSON" -d '${bodyOf('grocer')}' | field access_token)
bank() { curl -s -H "authorization: Bearer $ALPHA" "$@"; echo; }
merchant() { curl -s -H "authorization: Bearer $GROCER" "$@"; echo; }`
}

const esimLines = `echo '== 2. The bank sells an eSIM'
bank $URL/esim/v1/operators
bank $URL/esim/v1/operators/kyivstar/tariffs
ORDER=$(bank $URL/esim/v1/orders -H "$JSON" -d '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"first-'$(date +%s)'"}' | field orderId)
bank $URL/esim/v1/orders/$ORDER
bank -X POST $URL/esim/v1/orders/$ORDER/confirm
bank $URL/esim/v1/orders/$ORDER/qr -o esim.png && echo 'The QR code is in esim.png'`

const campaignLines = `echo '== 3. The merchant creates a campaign, the bank confirms it, the merchant launches it'
merchant "$URL/cashbacks/for-merchant?pageSize=3"
BEGIN=$(in_seconds -86400); END=$(in_seconds 3600)
BANK=$(merchant $URL/cashbacks/for-merchant/banks | sed 's/"},{.*//' | field id)
CAMPAIGN=$(merchant $URL/cashbacks/for-merchant -H "$JSON" -d '{"participantsIds":["'$BANK'"],"name":"My first campaign",
  "dateFrom":"'$BEGIN'","dateTo":"'$END'","minAmount":0,"maxAmount":5000,"percentage":5,"countryCode":"UA",
  "terminalsPlatform":true,"paymentSystemsId":["5b0c3c1e-0d0a-4c5e-8f56-2f6b1a1d0001"],"merchantCompensationPercentage":60}' | field id)
bank "$URL/cashbacks/for-bank?bankApprovalStatus=pending&name=first"
bank -X POST $URL/cashbacks/$CAMPAIGN/confirm
merchant -X POST $URL/cashbacks/for-merchant/$CAMPAIGN/confirm`

const settlementLines = `echo '== 4. The sandbox clock ends the period, then both sides reconcile and settle'
printf 'transactionId,terminalId,transactionAt,amount,cashbackAmount\\nTX-1,T-0001,'$(in_seconds -60)',1000.00,50.00\\n' > report.csv
bank $URL/sandbox/clock -H "$JSON" -d '{"now":"'$END'"}'
bank $URL/portal/cashbacks/$CAMPAIGN/bank-report -F file=@report.csv
merchant $URL/portal/cashbacks/$CAMPAIGN/reconciliation
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/banks/$BANK/accept-report
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/banks/$BANK/settle
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/compensation-paid
bank -X POST $URL/portal/cashbacks/$CAMPAIGN/compensation-received
merchant $URL/portal/cashbacks/$CAMPAIGN/history
bank -X DELETE $URL/sandbox/clock`

const eventLines = `echo '== 5. The bank reads what has happened: the first events, and the life of its order'
bank "$URL/partner/v1/events?limit=3"
bank $URL/partner/v1/orders/$ORDER/timeline`
