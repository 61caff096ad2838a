/**
 * Draws the life of a campaign as Mermaid state diagrams, from the table in `campaigns/lifecycle/transitions.ts`. `npm
 * run diagrams` writes the diagrams into `pages`, between the two markers of each page.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Subject, type Transition, type Trigger, transitions } from '../../src/campaigns/lifecycle/transitions.ts'

export const pages = ['docs/campaign-life.md'] as const

const markers = ['<!-- drawn by npm run diagrams -->', '<!-- end of the drawing -->'] as const

const words: Record<Trigger, string> = {
  create: 'created',
  invite: 'the merchant invites',
  uninvite: 'the merchant takes the invitation back',
  confirm: 'the bank confirms',
  reject: 'the bank rejects',
  launch: 'the merchant launches',
  start: 'the period begins',
  end: 'the period ends',
  delete: 'the author deletes',
  'upload-bank-report': 'the bank uploads its report',
  'upload-merchant-report': 'the merchant uploads its report',
  'accept-report': 'the merchant accepts the report',
  settle: 'the merchant confirms settlement',
  pay: 'the merchant has paid',
  acknowledge: 'the bank acknowledges the money',
  complete: 'the last wait ends',
}

const titles: Record<Subject, string> = {
  campaign: 'The campaign (`status`)',
  bank: 'Each bank’s part (`banks[].status`)',
  reporting:
    'Reconciliation with each approved bank (`bankReportingStatus`; the last two stages follow from `settlementConfirmed` and the ' +
    'campaign’s status)',
}

const drawn = (state: string | null): string => state ?? '[*]'
const label = ({ trigger, condition }: Transition): string =>
  condition === '' ? words[trigger] : `${words[trigger]}<br>(${condition})`

/** One arrow for all transitions from one state to another. */
export function diagram(subject: Subject): string {
  const arrows = Map.groupBy(
    transitions.filter(move => move.subject === subject),
    ({ from, to }) => `${drawn(from)} --> ${drawn(to)}`,
  )
  const lines = [...arrows].map(([arrow, ways]) => `  ${arrow}: ${ways.map(label).join('<br>or ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

const drawing = (): string =>
  (Object.entries(titles) as [Subject, string][])
    .map(([subject, title]) => `${title}:\n\n${diagram(subject)}`)
    .join('\n\n')

const urlOf = (page: string): URL => new URL(`../../${page}`, import.meta.url)

export const readPage = (page: string): string => readFileSync(urlOf(page), 'utf8')

/**
 * The page with the new drawing.
 * @throws Error when the page has no markers for it
 */
export function redrawn(text: string): string {
  const [before, rest] = text.split(markers[0])
  const after = rest?.split(markers[1])[1]
  if (before === undefined || after === undefined) throw new Error(`The page has no ${markers.join(' ... ')}`)
  return `${before}${markers[0]}\n\n${drawing()}\n\n${markers[1]}${after}`
}

if (import.meta.main) for (const page of pages) writeFileSync(urlOf(page), redrawn(readPage(page)))
