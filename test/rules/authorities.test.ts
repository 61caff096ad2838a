import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { rootCertificates } from 'node:tls'
import { readAuthorities } from '../../src/server/outside-services.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-authorities-'))
after(() => rmSync(folder, { recursive: true }))
const read = async (text: string): Promise<number> => {
  const file = join(folder, 'ca.pem')
  writeFileSync(file, text)
  return ((await readAuthorities(file)) ?? []).length - rootCertificates.length
}
const [pem = '', other = ''] = rootCertificates

test('every certificate of WEBHOOK_CA_FILE counts, whatever its label', async () => {
  assert.equal(await read(`# one\r\n${pem}\n# two\n${other}\n`), 2)
  assert.equal(await read(pem.replaceAll('CERTIFICATE', 'X509 CERTIFICATE')), 1)
  assert.equal(await read(`-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n${pem}`), 1)
})

test('a certificate that is cut off or no certificate is refused', async () => {
  for (const text of ['', 'nonsense', `${pem}\n${other.slice(0, 300)}`, `${other.slice(0, 300)}\n${pem}`])
    await assert.rejects(read(text), /WEBHOOK_CA_FILE must hold certificates/)
})
