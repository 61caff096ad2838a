/** What `npm start` prints for people: the addresses, and after the first start lines ready to paste. */
import type { Config } from './config.ts'
import type { SampleCredential, Samples } from './samples.ts'

/**
 * @param samples the credentials and logins made at this start, or null: they are shown once
 * @param onTerminal without a terminal only the first start is worth words; the log tells the rest
 */
export function welcome(config: Config, samples: Samples | null, onTerminal: boolean): string {
  const { publicUrl } = config
  if (!samples)
    return onTerminal
      ? `\nPerkline runs on ${publicUrl}, portal on ${publicUrl}/app/, documentation on ${publicUrl}/swagger\n\n`
      : ''
  const { credentials, logins } = samples
  const credentialLines = credentials.map(
    ({ partner, clientId, secret }) => `  ${partner.padEnd(9)} clientId ${clientId}  secret ${secret}`,
  )
  const loginLines = logins.map(
    ({ account, login, password }) => `  ${account.padEnd(9)} login ${login.padEnd(9)} password ${password}`,
  )
  return `
Perkline runs on ${publicUrl} (${config.mode} mode), its data is in ${config.dataDir}

  API of tokens and campaigns   ${publicUrl}           documentation ${publicUrl}/swagger
  API of eSIM sales             ${publicUrl}/esim/v1   documentation ${publicUrl}/esim/v1/swagger
  Portal for people             ${publicUrl}/app/

Sample logins of the portal, shown this once:
${loginLines.join('\n')}

Sample credentials of systems, shown this once (alpha and beta are banks, grocer and voltshop merchants):
${credentialLines.join('\n')}

Paste the lines below into another terminal.

# 1. A token for the bank and the merchant
${tokenLines(publicUrl, credentials)}

# 2. The bank sells an eSIM
${esimLines}

# 3. A campaign from its creation to its launch
${campaignLines}

# 4. Its period passes by the sandbox clock; then both sides reconcile and settle
${settlementLines}

`
}

/** Dates are those of the paste, which may come days after the start: so many days from now, by GNU's `date` or BSD's. */
const dayFunction = 'day() { at=$(($(date +%s) + $1 * 86400)); date -u -d @$at +%F 2>/dev/null || date -u -r $at +%F; }'

function tokenLines(publicUrl: string, credentials: SampleCredential[]): string {
  const bodyOf = (name: string) => {
    const { clientId, secret } = credentials.find(({ partner }) => partner === name) ?? { clientId: '', secret: '' }
    return JSON.stringify({ clientId, secret })
  }
  return `URL=${publicUrl}; JSON='content-type: application/json'
field() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
${dayFunction}
ALPHA=$(curl -s $URL/getToken/auth -H "$JSON" -d '${bodyOf('alpha')}' | field access_token)
GROCER=$(curl -s $URL/getToken/auth -H "$JSON" -d '${bodyOf('grocer')}' | field access_token)
bank() { curl -s -H "authorization: Bearer $ALPHA" "$@"; echo; }
merchant() { curl -s -H "authorization: Bearer $GROCER" "$@"; echo; }`
}

const esimLines = `bank $URL/esim/v1/operators
bank $URL/esim/v1/operators/kyivstar/tariffs
ORDER=$(bank $URL/esim/v1/orders -H "$JSON" -d '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"first-'$(date +%s)'"}' | field orderId)
bank $URL/esim/v1/orders/$ORDER
bank -X POST $URL/esim/v1/orders/$ORDER/confirm
bank $URL/esim/v1/orders/$ORDER/qr -o esim.png && echo "the QR code is in esim.png"`

const campaignLines = `merchant "$URL/cashbacks/for-merchant?pageSize=3"
END=$(day 2)
BANK=$(merchant $URL/cashbacks/for-merchant/banks | sed 's/"},{.*//' | field id)
CAMPAIGN=$(merchant $URL/cashbacks/for-merchant -H "$JSON" -d '{"participantsIds":["'$BANK'"],"name":"My first campaign",
  "dateFrom":"'$(day 0)'","dateTo":"'$END'","minAmount":0,"maxAmount":5000,"percentage":5,"countryCode":"UA",
  "terminalsPlatform":true,"paymentSystemsId":["5b0c3c1e-0d0a-4c5e-8f56-2f6b1a1d0001"],"merchantCompensationPercentage":60}' | field id)
bank "$URL/cashbacks/for-bank?bankApprovalStatus=pending&name=first"
bank -X POST $URL/cashbacks/$CAMPAIGN/confirm
merchant -X POST $URL/cashbacks/for-merchant/$CAMPAIGN/confirm`

const settlementLines = `printf 'transactionId,terminalId,transactionAt,amount,cashbackAmount\\nTX-1,T-0001,'$(date -u +%FT%TZ)',1000.00,50.00\\n' > report.csv
curl -s $URL/sandbox/clock -H "$JSON" -d '{"now":"'$END'T00:00:00Z"}'; echo
bank $URL/portal/cashbacks/$CAMPAIGN/bank-report -F file=@report.csv
merchant $URL/portal/cashbacks/$CAMPAIGN/reconciliation
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/banks/$BANK/accept-report
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/banks/$BANK/settle
merchant -X POST $URL/portal/cashbacks/$CAMPAIGN/compensation-paid
bank -X POST $URL/portal/cashbacks/$CAMPAIGN/compensation-received
curl -s $URL/sandbox/clock -H "$JSON" -d '{"advance":"P30D"}'; echo
merchant $URL/portal/cashbacks/$CAMPAIGN/history
curl -s -X DELETE $URL/sandbox/clock; echo`
