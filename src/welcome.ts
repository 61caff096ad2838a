/** What `npm start` prints for people: the addresses, and after the first start lines ready to paste. */
import type { Config } from './config.ts'
import type { SampleCredential } from './samples.ts'

/**
 * @param samples the credentials made at this start, or null: they are shown once
 * @param onTerminal without a terminal only the first start is worth words; the log tells the rest
 */
export function welcome(config: Config, samples: SampleCredential[] | null, onTerminal: boolean): string {
  const { publicUrl } = config
  if (!samples) return onTerminal ? `\nPerkline runs on ${publicUrl}, documentation on ${publicUrl}/swagger\n\n` : ''
  const alpha = samples.find(({ partner }) => partner === 'alpha')
  const lines = samples.map(
    ({ partner, clientId, secret }) => `  ${partner.padEnd(9)} clientId ${clientId}  secret ${secret}`,
  )
  return `
Perkline runs on ${publicUrl} (${config.mode} mode), its data is in ${config.dataDir}

  API of tokens and campaigns   ${publicUrl}           documentation ${publicUrl}/swagger
  API of eSIM sales             ${publicUrl}/esim/v1   documentation ${publicUrl}/esim/v1/swagger

Sample credentials, shown this once (alpha and beta are banks, grocer and voltshop merchants):
${lines.join('\n')}

Sell an eSIM: paste these lines into another terminal.

TOKEN=$(curl -s ${publicUrl}/getToken/auth -H 'content-type: application/json' \\
  -d '{"clientId":"${alpha?.clientId}","secret":"${alpha?.secret}"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s ${publicUrl}/esim/v1/operators -H "authorization: Bearer $TOKEN"; echo
curl -s ${publicUrl}/esim/v1/operators/kyivstar/tariffs -H "authorization: Bearer $TOKEN"; echo
ORDER=$(curl -s ${publicUrl}/esim/v1/orders -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"operatorCode":"kyivstar","tariffCode":"eu-10gb","externalId":"first-'$(date +%s)'"}' | sed 's/.*"orderId":"\\([^"]*\\)".*/\\1/')
curl -s ${publicUrl}/esim/v1/orders/$ORDER -H "authorization: Bearer $TOKEN"; echo
curl -s -X POST ${publicUrl}/esim/v1/orders/$ORDER/confirm -H "authorization: Bearer $TOKEN"; echo
curl -s ${publicUrl}/esim/v1/orders/$ORDER/qr -H "authorization: Bearer $TOKEN" -o esim.png && echo "the QR code is in esim.png"

`
}
