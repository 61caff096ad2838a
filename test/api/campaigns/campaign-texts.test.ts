/**
 * Single texts of a campaign: terminals, SKUs, categories and banners. Campaigns of earlier versions keep texts that are
 * refused now (contract/campaigns.md, "Create" and "Edit").
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertEdited, decide, editsOf } from '../../support/campaign-edits.ts'
import { openPartners, type Partners } from '../../support/campaign-moves.ts'
import { assertRefused, campaignDirectory, campaignForm, createCampaign, ids } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let partners: Partners
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  partners = await openPartners(platform)
})
after(() => platform.close())

const { edit, read, assertNothingChanged } = editsOf(() => ({ platform, partners }))
const create = (overrides: Record<string, unknown>) =>
  partners.grocer.call('POST', '/cashbacks/for-merchant', { body: campaignForm(platform, overrides) })
const own = (...terminals: object[]) => ({ terminalsPlatform: false, terminals })
const plainLine = 'must be one line, without characters that turn the direction of the text'

const terminalFields = ['terminal_name', 'terminal_location', 'merchant_id', 'merchant_name']
const withText = (text: string) => ({
  ...own({ terminal_id: 'T-1' }, ...terminalFields.map((field, n) => ({ terminal_id: `F-${n}`, [field]: text }))),
  sku: ['right', text],
  categoryId: [text],
})
const places = ['sku.1', 'categoryId.0', ...terminalFields.map((field, n) => `terminals.${n + 1}.${field}`)]

describe('a text that is not one plain line', () => {
  for (const unfit of '\u0007\n\r\t\u007f\u0085\u2028\u2029\u202a\u202e\u2066\u2069')
    test(`U+${unfit.charCodeAt(0).toString(16)} is refused wherever it is`, async () => {
      assertRefused(
        await create(withText(`a${unfit}b`)),
        400,
        places.map(place => `${place} ${plainLine}`),
      )
    })

  test('is refused as terminal_id, too', async () => {
    const terminals = own({ terminal_id: 'T-1' }, { terminal_id: 'T\u202e2' }, { terminal_id: 'T\u20283' })
    assertRefused(
      await create(terminals),
      400,
      [1, 2].map(n => `terminals.${n}.terminal_id ${plainLine}`),
    )
  })

  test('is refused in a form that another process reads', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => ({ terminal_id: `T-${n}`, terminal_name: `Shop ${n}` }))
    many[19_999] = { terminal_id: 'last', terminal_name: 'a\u202eb' }
    assertRefused(await create(own(...many)), 400, [`terminals.19999.terminal_name ${plainLine}`])
  })

  test('other scripts, emoji and joiners are accepted', async () => {
    const answer = await create(withText('Київ קוד 👩‍💻 \u200d\u00a0x'))
    assert.equal(answer.status, 201, answer.text)
  })
})

test('the documents have patterns that fit the texts that are accepted, and no others', async () => {
  const { body } = await partners.grocer.call('GET', '/swagger/json')
  const { NewCampaign, NewBankCampaign, CampaignChange, NewTerminal } = body.components.schemas
  const odd = [...'\u0007\n\u0085\u2028\u202a\u202e\u2069', ...'x \u00a0\u200b\u200d\u2800\ufeff\u00ad\ue000\u3000Є😀']
  for (const text of odd.flatMap(one => [one, `a${one}b`])) {
    const fits = (schema: { pattern: string }) => new RegExp(schema.pattern, 'u').test(text)
    const isTaken = async (overrides: Record<string, unknown>) => {
      const { status } = await create(overrides)
      assert.ok(status === 201 || status === 400)
      return status === 201
    }
    const shown = `U+${text.codePointAt(text.length > 2 ? 1 : 0)?.toString(16)} in ${text.length}`
    const [named, listed, terminal] = [
      await isTaken({ name: text }),
      await isTaken({ sku: [text], categoryId: [text] }),
      await isTaken(own({ terminal_id: text })),
    ]
    for (const { properties } of [NewCampaign, NewBankCampaign, CampaignChange]) {
      assert.equal(fits(properties.name), named, `name, ${shown}`)
      for (const list of [properties.sku, properties.categoryId])
        assert.equal(fits(list.items), listed, `sku, ${shown}`)
    }
    assert.equal(fits(NewTerminal.properties.terminal_id), terminal, `terminal_id, ${shown}`)
    // These have the same rule as a SKU.
    for (const field of terminalFields) assert.equal(fits(NewTerminal.properties[field]), listed, `${field}, ${shown}`)
  }
})

describe('a campaign of an earlier version with such texts', () => {
  const oldTerminals = [
    {
      terminal_id: 'T-1',
      terminal_name: 'Shop\u202e1',
      terminal_location: null,
      merchant_id: null,
      merchant_name: null,
    },
    { terminal_id: 'T\u20282', terminal_name: null, terminal_location: 'a\nb', merchant_id: null, merchant_name: null },
  ]
  const oldTexts = { terminals: oldTerminals, sku: ['a\u202eb', 'c'], categoryId: ['d\n'] }
  async function createOld(): Promise<string> {
    const id = await createCampaign(
      platform,
      { ...own({ terminal_id: 'T-1' }, { terminal_id: 'T-2' }), sku: ['c'], participantsIds: [ids.alpha, ids.beta] },
      partners.grocer,
    )
    const { database } = platform.platform
    await database.execute(
      `update campaigns set terminals = $2, sku = $3, category_id = $4,
         card = left(jsonb_set(jsonb_set((card || '}')::jsonb, '{sku}', to_jsonb($3::text[])), '{categoryId}', to_jsonb($4::text[]))::text, -1)
       where cashback_id = $1`,
      [id, JSON.stringify(oldTerminals), oldTexts.sku, oldTexts.categoryId],
    )
    return id
  }
  const added = { terminal_id: 'T-3' }

  test('is shown as it is', async () => {
    const { terminals, sku, categoryId } = (await read(await createOld())).body
    assert.deepEqual({ terminals, sku, categoryId }, oldTexts)
  })

  test('keeps them in an edit that sends them back, also when they are locked', async () => {
    const id = await createOld()
    const edited = assertEdited(await edit(id, { ...oldTexts, description: 'one' }))
    assert.deepEqual([edited.terminals, edited.sku, edited.description], [oldTerminals, oldTexts.sku, 'one'])
    await decide(partners.alpha, id)
    const { updatedAt } = assertEdited(await edit(id, { ...oldTexts, description: 'two' }))
    assert.equal(assertEdited(await edit(id, oldTexts)).updatedAt, updatedAt)
  })

  test('takes further ones only if they are plain', async () => {
    const id = await createOld()
    const more = { terminals: [...oldTerminals, added], sku: [...oldTexts.sku, 'new'] }
    const edited = assertEdited(await edit(id, more))
    assert.deepEqual([edited.terminalsCount ?? edited.terminals.length, edited.sku], [3, more.sku])
    const before = await read(id)
    const turned = {
      terminals: [...more.terminals, { terminal_id: 'T-4', merchant_name: 'x\u2029' }],
      sku: ['new\u202e', ...more.sku],
    }
    assertRefused(await edit(id, turned), 400, [`sku.0 ${plainLine}`, `terminals.3.merchant_name ${plainLine}`])
    const renamed = { terminals: [{ ...oldTerminals[0], terminal_location: 'Kyiv' }, oldTerminals[1], added] }
    assertRefused(await edit(id, renamed), 400, [`terminals.0.terminal_name ${plainLine}`])
    await assertNothingChanged(id, before)
  })

  test('gets 50,000 of them back', async () => {
    const id = await createOld()
    const many = Array.from({ length: 50_000 }, (_, n) => ({ ...oldTerminals[0], terminal_id: `T-${n}` }))
    await platform.platform.database.execute(
      'update campaigns set terminals = $2, terminals_count = $3 where cashback_id = $1',
      [id, JSON.stringify(many), many.length],
    )
    assert.equal((await edit(id, { terminals: many, description: 'many' })).status, 200)
    const others = many.map(one => ({ ...one, terminal_name: 'b\u202e' }))
    assert.equal((await edit(id, { terminals: others })).status, 400)
  })

  test('gets those of the directory back, also as its own list', async () => {
    const id = await createCampaign(
      platform,
      { terminalsPlatform: true, participantsIds: [ids.alpha] },
      partners.grocer,
    )
    await platform.platform.database.execute(
      `update merchant_terminal_lists set terminals = $2, terminals_count = 2 where merchant_id = $1`,
      [ids.grocer, JSON.stringify(oldTerminals)],
    )
    const { terminals } = (await read(id)).body
    assert.deepEqual(terminals, oldTerminals)
    const turned = { terminals: [...terminals, { terminal_id: 'T\u202e' }], terminalsPlatform: false }
    assertRefused(await edit(id, turned), 400, [`terminals.2.terminal_id ${plainLine}`])
    assert.deepEqual(assertEdited(await edit(id, { terminals, terminalsPlatform: false })).terminals, oldTerminals)
  })

  test('has them mended by an edit while it may change', async () => {
    const id = await createOld()
    const mended = { terminals: [{ terminal_id: 'T-1' }], sku: ['ab'], categoryId: ['d'] }
    assert.deepEqual(assertEdited(await edit(id, mended)).sku, ['ab'])
  })
})

describe('a banner', () => {
  const banner =
    'must be an http or https URL of at most 2048 characters of RFC 3986 (others are written as %…, in the host as xn--…), ' +
    'or a data:image/...;base64, URI of at most 256 KiB'
  const refused = [
    'https://a.b/"<>',
    'https://a.b\\c',
    'https://a.b/\u202e',
    'https://a.b/\u200b',
    'https://a.b/%zz',
    'https://a.b/%4',
    'http:///x',
    'https://?a',
    'https://:80/',
    'https://a.b/я.png',
    'https://приклад.укр/',
    'https://a.b/?a[]=1',
    'https://a.b/a b',
    'https://a.b/{x}|^`',
    'https://a.b/#a#b',
    'https://[::1/',
    'https://a.b:99999/',
    'https:a.b',
  ]
  for (const address of refused)
    test(`${JSON.stringify(address)} is refused`, async () =>
      assertRefused(await create({ bannerSmall: address, bannerBig: address }), 400, [
        `bannerSmall ${banner}`,
        `bannerBig ${banner}`,
      ]))

  test('is a URI with all characters of RFC 3986', async () => {
    for (const bannerBig of [
      "HTTPS://u:p@cdn.Example.:8443/a-b._~!$&'()*+,;=:@/%D1%8F//?a=b&c?/:@#x?/y",
      'http://xn--80aikifvh.xn--j1amh',
      'https://[2001:db8::1]:80/a.png',
      'https://192.0.2.1?x',
    ]) {
      const answer = await create({ bannerBig })
      assert.equal(answer.status, 201, `${bannerBig} ${answer.text}`)
    }
  })

  test('of an earlier version stays, and may be sent back also when the campaign is locked', async () => {
    const old = 'https://a.b/я.png'
    const id = await createCampaign(platform, { participantsIds: [ids.alpha] }, partners.grocer)
    await platform.platform.database.execute(
      `update campaigns set banner_small = $2, card = left(jsonb_set((card || '}')::jsonb, '{bannerSmall}', to_jsonb($2::text))::text, -1)
       where cashback_id = $1`,
      [id, old],
    )
    assert.equal(assertEdited(await edit(id, { bannerSmall: old, description: 'one' })).bannerSmall, old)
    await decide(partners.alpha, id)
    assert.equal(assertEdited(await edit(id, { bannerSmall: old })).bannerSmall, old)
    assertRefused(await edit(id, { bannerSmall: old, bannerBig: old }), 400, [`bannerBig ${banner}`])
  })
})
