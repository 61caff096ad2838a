/** Lists that are pasted into the form of a campaign, and pictures and files that are chosen for it. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { withoutQuotes } from '../../portal/src/campaigns/form/pasted-list.ts'
import { assertAccessible, closeBrowser, visit } from '../support/browser.ts'
import { campaignDirectory } from '../support/campaigns.ts'
import { button, inPage, sees } from '../support/pages.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import { type Account, addAccount } from '../support/portal.ts'

let platform: TestPlatform
let manager: Account
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  manager = await addAccount(platform, { merchant: 'grocer' }, 'editor')
})
after(async () => {
  await closeBrowser()
  await platform.close()
})

const newCampaign = '/merchant/campaigns/new'

suite('a list that is pasted', { timeout: 60_000 }, () => {
  test('spaces of any kind separate; the quotation marks of a spreadsheet’s cells are left out', () => {
    const cases: [string[], string[]][] = [
      [
        ['"A-1"', 'B-2'],
        ['A-1', 'B-2'],
      ],
      [
        ['"A-1', 'A-2"', 'B-2'],
        ['A-1', 'A-2', 'B-2'],
      ],
      [['"12""-TV"'], ['12"-TV']],
      [
        ['12"', '"', 'B"C'],
        ['12"', '"', 'B"C'],
      ],
      [
        ['A-1', '"A-1"', '""'],
        ['A-1', 'A-1'],
      ],
      [
        ['"A-1', 'A-2"', '"A-1', 'A-3"'],
        ['A-1', 'A-2', 'A-1', 'A-3'],
      ],
    ]
    for (const [values, cells] of cases) assert.deepEqual(withoutQuotes(values), cells, values.join(' '))
  })

  test('into the form', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'Selected products' }).check()
    const list = page.locator('input[data-path=sku]')
    await paste(list, 'A-1\u00a0A-2\u202fA-3\r\n"A-4"\t"A-5\nA-6"')
    await page.getByText('A-6').waitFor()
    assert.deepEqual(await pillsOf(list).allInnerTexts(), ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6'])
    // Another SKU: for the platform, letters in upper and lower case differ.
    await list.fill('a-6')
    await list.press('Enter')
    await page.getByText('a-6', { exact: true }).waitFor()
    await list.fill('"A-7"')
    await list.press('Enter')
    await page.getByText('A-7', { exact: true }).waitFor()
  })

  test('of thousands is shown by its length and its first values; more can be added, and it can be cleared', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'Selected products' }).check()
    const list = page.locator('input[data-path=sku]')
    await paste(list, Array.from({ length: 99 }, (_, index) => `A-${index}`).join('\n'))
    await page.getByText('A-98', { exact: true }).waitFor()
    await list.fill('A-99')
    await list.press('Enter')
    await sees(page, '100 SKUs')
    assert.equal(await pillsOf(list).count(), 0)
    await button(page, 'Show all values').click()
    await page.getByText('A-98', { exact: true }).waitFor()
    assert.equal(await pillsOf(list).count(), 100)
    await list.press('Backspace')
    await page.getByText('A-99', { exact: true }).waitFor({ state: 'detached' })
    await paste(list, Array.from({ length: 3_000 }, (_, index) => `A-${index}`).join('\n'))
    await sees(page, '3,000 SKUs')
    await sees(page, 'A-0, A-1, A-2, A-3, A-4')
    assert.equal(await pillsOf(list).count(), 0)
    await list.fill('"B-1"')
    await list.press('Enter')
    await sees(page, '3,001 SKUs')
    await list.press('Backspace')
    await sees(page, '3,001 SKUs')
    await assertAccessible(visitor)
    await sees(page, 'Your draft is kept')
    await page.reload()
    await sees(page, '3,001 SKUs')
    await button(page, 'Clear the list').focus()
    await page.keyboard.press('Enter')
    await page.locator('input[data-path=sku]:focus').waitFor()
    assert.equal(await page.getByText('3,001 SKUs').count(), 0)
  })

  test('cells that repeat a value lose their quotation marks, too', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'Selected products' }).check()
    const cases: [pasted: string, values: string[]][] = [
      ['"A-1\nA-2"\n"A-1\nA-3"', ['A-1', 'A-2', 'A-3']],
      ['"A-1\nA-2"\t"A-9\nA-2"', ['A-1', 'A-2', 'A-9']],
      ['"A 1";"A 2"', ['A', '1', '2']],
      ['"TV 32"""\t"TV 40"""', ['TV', '32"', '40"']],
      ['"5411\n5412"\r\n"5411\n5499"\r\n', ['5411', '5412', '5499']],
    ]
    for (const name of ['sku', 'categoryId', 'merchantCategoryCode']) {
      const list = page.locator(`input[data-path=${name}]`)
      const pills = pillsOf(list)
      for (const [pasted, values] of cases) {
        await paste(list, pasted)
        await pills.nth(values.length - 1).waitFor()
        assert.deepEqual(await pills.allInnerTexts(), values, `${name}: ${pasted}`)
        // Values that are in the list already.
        await paste(list, pasted)
        await paste(list, `last ${pasted}`)
        await pills.nth(values.length).waitFor()
        assert.deepEqual(await pills.allInnerTexts(), [...values, 'last'], `${name}, again: ${pasted}`)
        await list.fill('last')
        await list.press('Enter')
        assert.equal(await list.inputValue(), '')
        for (let left = values.length; left >= 0; left--) {
          await list.press('Backspace')
          await pills.nth(left).waitFor({ state: 'detached' })
        }
      }
    }
  })

  const pillsOf = (list: Locator) => list.locator('xpath=..').locator('.mantine-Pill-label')

  const paste = (list: Locator, text: string) =>
    inPage(
      list,
      `const clipboardData = new DataTransfer()
       clipboardData.setData('text/plain', given.text)
       element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))`,
      { text },
    )
})

suite('a picture of the card', { timeout: 60_000 }, () => {
  const picture = (bytes: number) => ({ name: 'card.png', mimeType: 'image/png', buffer: Buffer.alloc(bytes) })

  test('can be chosen again after it was removed or refused; the focus stays at its field', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    const input = page.locator('input[type=file][accept*=png]').first()
    // A browser reports no change when the field has the same file already.
    const isEmpty = async () => assert.equal(await input.inputValue(), '')
    await input.setInputFiles(picture(300 * 1024))
    await sees(page, /^This image is too large/)
    await isEmpty()
    await input.setInputFiles(picture(1024))
    const remove = button(page, 'Remove: Small banner')
    await remove.waitFor()
    await isEmpty()
    await remove.focus()
    await page.keyboard.press('Enter')
    await page.locator('input[data-path=bannerSmall]:focus').waitFor()
    await remove.waitFor({ state: 'detached' })
    await input.setInputFiles(picture(1024))
    await remove.waitFor()
  })
})

suite('a file of terminals', { timeout: 60_000 }, () => {
  test('two files that are dropped at once: none is taken, and the person is told', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'A list from a file' }).check()
    const zone = page.locator('[data-path=terminals] .mantine-Dropzone-root')
    await zone.waitFor()
    const drop = (...names: string[]) =>
      inPage(
        zone,
        `const dataTransfer = new DataTransfer()
         for (const name of given.names)
           dataTransfer.items.add(new File(['terminal_id\\n' + name + '\\n'], name, { type: 'text/csv' }))
         for (const kind of ['dragenter', 'dragover', 'drop'])
           element.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }))`,
        { names },
      )
    await drop('one.csv', 'two.csv')
    await sees(page, 'Drop one file at a time.')
    await sees(page, '0 terminals')
    await drop('one.csv', 'two.csv', 'three.pdf')
    await sees(page, 'Drop one file at a time.')
    await drop('three.csv')
    await sees(page, '1 terminal added')
    assert.equal(await page.getByText('Drop one file at a time.').count(), 0)
  })

  test('an error names the line of the file', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'A list from a file' }).check()
    const choose = (content: string) =>
      page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'terminals.csv', mimeType: 'text/csv', buffer: Buffer.from(content) })
    await choose(`terminal_id,name\nT-1,${'n'.repeat(200)}\n${'T'.repeat(129)},Shop\nT-3,${'n'.repeat(201)}\n`)
    await sees(page, 'Line 3: terminal_id has more than 128 characters')
    await sees(page, 'Line 4: name has more than 200 characters')
  })

  test('the focus stays near a list of terminals that is cleared', async t => {
    const visitor = await visit(t, platform)
    if (!visitor) return
    const { page } = visitor
    await visitor.logIn(manager, newCampaign)
    await page.getByRole('radio', { name: 'A list from a file' }).check()
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'terminals.csv', mimeType: 'text/csv', buffer: Buffer.from('terminal_id\nT-1\n') })
    await button(page, 'Clear the list').focus()
    await page.keyboard.press('Enter')
    await page.locator('[data-path=terminals]:focus').waitFor()
  })
})
