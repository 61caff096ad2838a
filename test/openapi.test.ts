import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { documents, lint, readDocuments, snapshotUrl } from './support/openapi.ts'
import { startPlatform } from './support/platform.ts'

test('the snapshots are what the platform serves (else: npm run openapi, and review the change)', async () => {
  const served = await readDocuments()
  for (const { file } of documents) assert.equal(readFileSync(snapshotUrl(file), 'utf8'), served.get(file), file)
})

test('every operation has a summary, a description, and the errors that all share', () => {
  for (const { file } of documents) {
    const { openapi, paths } = JSON.parse(readFileSync(snapshotUrl(file), 'utf8'))
    assert.equal(openapi, '3.1.0')
    for (const [path, operations] of Object.entries<Record<string, any>>(paths))
      for (const [method, operation] of Object.entries(operations)) {
        const name = `${method} ${path}`
        assert.ok(operation.operationId && operation.summary && operation.description, name)
        assert.ok(operation.responses['500'] && operation.responses['503'], name)
        if (file === 'esim-sales.json')
          for (const code of ['401', '403', '429']) assert.ok(operation.responses[code], `${name} ${code}`)
      }
  }
})

test('a body is required where the operation needs one, and only there', () => {
  const optional = [
    'confirm',
    'cancel',
    'confirmParticipation',
    'rejectParticipation',
    'deleteCampaign',
    'launchCampaign',
  ]
  const required = ['reserve', 'createCampaign', 'editCampaign', 'issueToken', 'logIn', 'uploadBankReport']
  const bodies = new Map<string, boolean>()
  for (const { file } of documents)
    for (const operations of Object.values<Record<string, any>>(
      JSON.parse(readFileSync(snapshotUrl(file), 'utf8')).paths,
    ))
      for (const { operationId, requestBody } of Object.values(operations))
        if (requestBody) bodies.set(operationId, requestBody.required ?? false)
  for (const operationId of optional) assert.equal(bodies.get(operationId), false, operationId)
  for (const operationId of required) assert.equal(bodies.get(operationId), true, operationId)
})

const alone = { 'perkline.json': 'cashback', 'esim-sales.json': 'esim', 'operator.json': 'admin' } as const
for (const { file, page } of documents)
  test(`the page ${page} needs nothing but its own service, with a slash at its end and without`, async () => {
    const platform = await startPlatform({}, { directory: null, only: [alone[file]] })
    try {
      const token = platform.config.operatorKey
      for (const address of [page, `${page}/`]) {
        const { status, text } = await platform.call('GET', address, { token })
        assert.equal(status, 200, address)
        const parts = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, part]) => part ?? '')
        assert.ok(parts.length >= 5, text)
        for (const part of parts) {
          // As a browser finds them, wherever a proxy has put the page.
          const { pathname } = new URL(part, `http://127.0.0.1${address}`)
          assert.ok(pathname.startsWith(`${page}/`), pathname)
          assert.equal((await platform.call('GET', pathname, { token })).status, 200, pathname)
        }
      }
    } finally {
      await platform.close()
    }
  })

for (const command of ['redocly', 'spectral'] as const)
  test(`${command} finds nothing to complain about`, () => {
    const { status, output } = lint(command)
    assert.equal(status, 0, output)
  })
