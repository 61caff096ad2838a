/**
 * The settlement act as a PDF: one page or more for each bank, in an embedded font that has Cyrillic letters and currency signs. All times
 * are in UTC, and nothing on a bank's pages depends on other banks, so that both sides have the same document. With several banks, the
 * sum is on a sheet of its own at the end.
 */
import { fileURLToPath } from 'node:url'
import PDFDocument from 'pdfkit'
import { countEveryKind, differenceKinds, totalOf } from '../differences.ts'
import type { SettlementAct } from './read.ts'
import { type ActLanguage, actTexts } from './texts.ts'

type Bank = SettlementAct['banks'][number]
type Report = NonNullable<Bank['bankReport']>
export type ActStyle = { language: ActLanguage }

const font = (file: string): string => fileURLToPath(import.meta.resolve(`@expo-google-fonts/inter/${file}`))
const regular = font('400Regular/Inter_400Regular.ttf')
const bold = font('700Bold/Inter_700Bold.ttf')

const margin = 48
const width = 595.28 - 2 * margin
const colours = { text: '#14211b', muted: '#5b6b63', line: '#c9d3cd' }

/** @returns the document as a stream of bytes */
export function actPdf(act: SettlementAct, style: ActStyle): PDFKit.PDFDocument {
  const texts = actTexts[style.language]
  const document = new PDFDocument({
    size: 'A4',
    margin,
    bufferPages: true,
    lang: style.language,
    displayTitle: true,
    info: { Title: `${texts.title}: ${act.campaignName}`, Author: 'Perkline', CreationDate: act.generatedAt },
  })
  document.registerFont('regular', regular).registerFont('bold', bold)
  const parts: Part[] = []
  let pagesBefore = 0
  const addPart = (number: string, write: () => void) => {
    if (parts.length > 0) document.addPage()
    write()
    const { count } = document.bufferedPageRange()
    parts.push({ number, pages: count - pagesBefore })
    pagesBefore = count
  }
  for (const bank of act.banks) addPart(numberOf(act, bank, style), () => writeBank(document, act, bank, style))
  if (act.banks.length > 1) addPart('', () => writeSum(document, act, style))
  writeFooters(document, act, style, parts)
  document.end()
  return document
}

/**
 * A part of the document: the act of one bank, or the sheet with the sum, which has an empty number. Each part may need
 * several pages and counts its own.
 */
type Part = { number: string; pages: number }

function writeBank(document: PDFKit.PDFDocument, act: SettlementAct, bank: Bank, style: ActStyle): void {
  const texts = actTexts[style.language]
  const page = { document, act, bank, style, texts, format: createFormat(style, act.currency) }
  writeTitle(page)
  writeCampaign(page)
  writePartners(page)
  writeReports(page)
  writeDifferences(page)
  writeDates(page)
  if (document.y + endHeight > document.page.maxY()) document.addPage()
  writeCompensation(page)
  if (bank.settledAt !== null) signatures(document, [texts.merchant, texts.bank], texts.signature)
}

const numberOf = (act: SettlementAct, bank: Bank, { language }: ActStyle): string =>
  `${actTexts[language].number} ${act.cashbackId.slice(0, 8)}-${bank.code}`

/** The data that the parts of a bank's page show. */
type BankPage = {
  document: PDFKit.PDFDocument
  act: SettlementAct
  bank: Bank
  style: ActStyle
  texts: (typeof actTexts)[ActStyle['language']]
  format: ReturnType<typeof createFormat>
}

function writeTitle({ document, act, bank, style, texts }: BankPage): void {
  document.font('bold').fontSize(18).fillColor(colours.text).text(texts.title)
  document.font('regular').fontSize(9).fillColor(colours.muted)
  document.text(numberOf(act, bank, style))
  if (bank.settledAt === null) document.font('bold').fillColor('#a35200').text(texts.draft)
  document.moveDown(0.8)
}

function writeCampaign({ document, act, texts, format }: Omit<BankPage, 'bank' | 'style'>): void {
  facts(document, [
    [texts.campaign, act.campaignName],
    [texts.id, act.cashbackId],
    [texts.period, `${format.instant(act.dateFrom)} – ${format.instant(act.dateTo)}`],
    [texts.cashback, format.percent(act.percentage)],
    [texts.share, format.percent(act.merchantCompensationPercentage)],
  ])
}

function writePartners({ document, act, bank, style, texts }: BankPage): void {
  const { merchant } = act
  heading(document, texts.merchant)
  facts(document, [
    [texts.merchant, merchantName(act, style)],
    [texts.code, merchant.code],
    [texts.mcc, merchant.merchantCategoryCode.join(', ')],
    [texts.domains, merchant.domain.join(', ')],
    [texts.id, merchant.id],
  ])
  heading(document, texts.bank)
  facts(document, [
    [texts.bank, bank.name],
    [texts.code, bank.code],
    [texts.id, bank.id],
  ])
}

function writeReports({ document, bank, texts, format }: BankPage): void {
  type Value = (report: Report) => string
  const row = (label: string, ofBank: Value, ofMerchant = ofBank): [string, string, string] => [
    label,
    bank.bankReport ? ofBank(bank.bankReport) : texts.none,
    bank.merchantReport ? ofMerchant(bank.merchantReport) : texts.none,
  ]
  const cashback: Value = ({ totalCashback }) => format.money(totalCashback)
  // A merchant's report may lack this column, and then the sum is 0.
  const cashbackOrDash: Value = report => (Number(report.totalCashback) === 0 ? '–' : cashback(report))
  heading(document, texts.reports)
  columns(document, [
    ['', texts.bankReport, texts.merchantReport],
    row(texts.file, ({ fileName }) => fileName),
    row(texts.version, ({ version }) => String(version)),
    row(texts.uploaded, ({ uploadedAt }) => format.instant(uploadedAt)),
    row(texts.lines, ({ lines }) => format.count(lines)),
    row(texts.amount, ({ totalAmount }) => format.money(totalAmount)),
    row(texts.totalCashback, cashback, cashbackOrDash),
    row(texts.hash, ({ sha256 }) => sha256.replace(/(.{32})/g, '$1 ').trim()),
  ])
}

function writeDifferences({ document, bank, texts, format }: BankPage): void {
  const byKind = countEveryKind(...bank.counts)
  const kinds = differenceKinds.filter(kind => byKind[kind] > 0)
  heading(document, bank.acceptedAt === null ? texts.differencesSoFar : texts.differences)
  facts(document, [
    ...(bank.matched === null ? [] : [[texts.matched, format.count(bank.matched)] as const]),
    ...kinds.map(kind => [texts.kinds[kind], format.count(byKind[kind])] as const),
    [texts.total, kinds.length === 0 ? texts.noDifferences : format.count(totalOf(byKind))],
  ])
}

function writeDates({ document, act, bank, texts, format }: BankPage): void {
  const date = (at: string | null) => (at === null ? texts.notYet : format.instant(at))
  heading(document, texts.dates)
  facts(document, [
    [texts.accepted, date(bank.acceptedAt)],
    [texts.settled, date(bank.settledAt)],
    [texts.paid, date(act.paidAt)],
    [texts.received, date(bank.receivedAt)],
  ])
}

function writeCompensation({ document, bank, texts, format }: BankPage): void {
  heading(document, texts.compensation)
  writeAmount(document, bank.compensation === null ? texts.notYet : format.money(bank.compensation))
}

/** Writes the sheet with the compensation of all banks. It is for the merchant only, so nobody signs it. */
function writeSum(document: PDFKit.PDFDocument, act: SettlementAct, style: ActStyle): void {
  const texts = actTexts[style.language]
  const format = createFormat(style, act.currency)
  const missing = act.banks.filter(({ compensation }) => compensation === null).length
  document.font('bold').fontSize(18).fillColor(colours.text).text(texts.totalCompensation)
  document.font('regular').fontSize(9).fillColor(colours.muted).text(texts.sumNote)
  document.moveDown(0.8)
  writeCampaign({ document, act, texts, format })
  facts(document, [
    [texts.merchant, merchantName(act, style)],
    [texts.banksIncluded, format.count(act.banks.length - missing)],
    [texts.banksMissing, format.count(missing)],
  ])
  heading(document, texts.totalCompensation)
  writeAmount(document, format.money(act.totalCompensation))
}

function writeAmount(document: PDFKit.PDFDocument, text: string): void {
  document.font('bold').fontSize(14).fillColor(colours.text).text(text)
}

const merchantName = ({ merchant }: SettlementAct, { language }: ActStyle): string =>
  language === 'en' ? merchant.nameEn || merchant.name : merchant.name

function heading(document: PDFKit.PDFDocument, text: string): void {
  document.moveDown(0.7).font('bold').fontSize(11).fillColor(colours.text).text(text, margin, document.y)
  document.moveDown(0.2)
}

/** Writes names at the left and values at the right. */
function facts(document: PDFKit.PDFDocument, rows: readonly (readonly [string, string])[]): void {
  columns(
    document,
    rows.filter(([, value]) => value !== ''),
    [0.34, 0.66],
  )
}

function columns(document: PDFKit.PDFDocument, rows: readonly (readonly string[])[], shares = [0.2, 0.4, 0.4]): void {
  for (const row of rows) {
    const cells = row.map(cell => printable(document, cell))
    const heights = cells.map((cell, index) => {
      document.font(index === 0 ? 'regular' : 'bold').fontSize(9)
      return document.heightOfString(cell || ' ', { width: width * (shares[index] ?? 0) - 8 })
    })
    const height = Math.max(...heights) + 4
    if (document.y + height > document.page.maxY()) document.addPage()
    const top = document.y
    let left = margin
    for (const [index, cell] of cells.entries()) {
      const share = width * (shares[index] ?? 0)
      document.font(index === 0 ? 'regular' : 'bold').fontSize(9)
      document.fillColor(index === 0 ? colours.muted : colours.text).text(cell, left, top + 2, { width: share - 8 })
      left += share
    }
    document.y = top + height
    document
      .moveTo(margin, document.y)
      .lineTo(margin + width, document.y)
      .lineWidth(0.4)
      .stroke(colours.line)
  }
  document.x = margin
}

/** Shown instead of a character that the font lacks. PDFKit would show nothing. */
const placeholder = '□'
const segmenter = new Intl.Segmenter()

/** Replaces each character (grapheme cluster) that the font cannot show. */
function printable(document: PDFKit.PDFDocument, text: string): string {
  const { font } = (document.font('regular') as unknown as WithFont)._font
  const isShown = (sign: string) => [...sign].every(part => font.hasGlyphForCodePoint(part.codePointAt(0) ?? 0))
  const signs = Array.from(segmenter.segment(text.normalize('NFC')), ({ segment }) => segment)
  return signs.map(sign => (isShown(sign) ? sign : /^\s+$/.test(sign) ? ' ' : placeholder)).join('')
}

/** Private parts of PDFKit: the current font, as fontkit reads it. */
type WithFont = { _font: { font: { hasGlyphForCodePoint(codePoint: number): boolean } } }

const signaturesHeight = 50
/**
 * The height of the end of a bank's act, which must stay on one page: the compensation with its heading, and the
 * signatures.
 */
const endHeight = 42 + signaturesHeight

function signatures(document: PDFKit.PDFDocument, parties: readonly string[], hint: string): void {
  const top = document.y + 34
  const share = width / parties.length
  for (const [index, party] of parties.entries()) {
    const left = margin + index * share
    document
      .moveTo(left, top)
      .lineTo(left + share - 24, top)
      .lineWidth(0.6)
      .stroke(colours.muted)
    document.font('regular').fontSize(8).fillColor(colours.muted)
    document.text(`${party}: ${hint}`, left, top + 4, { width: share - 24 })
  }
}

/** Writes the footers: number, page within the part, and when the document was made. */
function writeFooters(document: PDFKit.PDFDocument, act: SettlementAct, style: ActStyle, parts: readonly Part[]): void {
  const texts = actTexts[style.language]
  const generated = `${texts.generated} ${createFormat(style, act.currency).instant(act.generatedAt)} · Perkline`
  const footers = parts.flatMap(({ number, pages }) =>
    Array.from({ length: pages }, (_, index) => ({ number, page: texts.page(index + 1, pages) })),
  )
  for (const [index, { number, page }] of footers.entries()) {
    document.switchToPage(index)
    // Without this change, PDFKit would begin a new page for text below the margin.
    document.page.margins.bottom = 0
    document.font('regular').fontSize(8).fillColor(colours.muted)
    const y = document.page.height - 32
    document.text(number, margin, y - 10, { lineBreak: false })
    document.text(generated, margin, y, { lineBreak: false })
    document.text(page, margin, y, { width, align: 'right', lineBreak: false })
  }
}

/** Formats decimal texts exactly: `Intl` accepts them without a conversion to floats. */
function createFormat({ language }: ActStyle, currency: string) {
  const locale = language === 'uk' ? 'uk-UA' : 'en-GB'
  // Amounts have 2 decimals in every currency, also where `Intl` would round them to none (JPY).
  const decimals = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  const money = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    ...decimals,
  })
  const percent = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 })
  const instant = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'short' })
  const count = new Intl.NumberFormat(locale)
  return {
    money: (amount: string): string => money.format(amount as `${number}`),
    percent: (value: string): string => `${percent.format(value as `${number}`)}${language === 'uk' ? '\u00a0' : ''}%`,
    count: (value: number): string => count.format(value),
    instant: (at: string | Date): string => `${instant.format(new Date(at))} UTC`,
  }
}
