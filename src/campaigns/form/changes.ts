/**
 * Finds out which fields an edit changes, and whether they may change (contract/campaigns.md, "Edit"). Pure: values in,
 * errors out.
 */

import { type BrokenRule, broken } from '../../error-rules.ts'
import { isLongList } from '../../outbox/bounded-change.ts'
import { type EditedCampaign, editable, growingFields, isOfDirectory } from '../lifecycle/editable-fields.ts'
import { awaitsApproval, isOver } from '../lifecycle/lifecycle.ts'
import type { FieldName, Fields } from './form.ts'
import type { TerminalChange } from './terminal-list-store.ts'

/**
 * The fields after an edit. A field whose new value is unreadable is left out: its old value must not be checked
 * against the other fields. If the edit clears `allProducts`, it becomes true when the campaign has neither SKUs nor
 * categories.
 *
 * @param names the fields that the edit gives
 */
export function mergedFields(
  present: Partial<Fields>,
  params: Partial<Fields>,
  names: readonly FieldName[],
): Partial<Fields> {
  const merged = { ...present, ...params }
  for (const name of names) if (params[name] === undefined) delete merged[name]
  if (merged.allProducts === null) merged.allProducts = !merged.sku?.length && !merged.categoryId?.length
  return merged
}

/**
 * The fields whose value differs from the stored one. Lists are compared without their order.
 *
 * @param terminals how the terminals differ; null: no terminals are given
 */
export function changedFields(
  present: Partial<Fields>,
  merged: Partial<Fields>,
  { names, terminals }: { names: readonly FieldName[]; terminals: TerminalChange | null },
): FieldName[] {
  const differs = (name: FieldName) => canonical(present[name]) !== canonical(merged[name])
  return names.filter(name =>
    name === 'terminals' ? terminals?.isChanged : merged[name] !== undefined && differs(name),
  )
}

function canonical(value: unknown): string | undefined {
  return JSON.stringify(Array.isArray(value) ? [...elements(value)].sort() : value)
}

/** Fields with long values. The history says only that they changed. */
const withoutValues: readonly FieldName[] = ['description', 'bannerSmall', 'bannerBig']
/** Fields that are stored as decimal text. The history shows them as numbers. */
const decimals: readonly FieldName[] = [
  'minAmount',
  'maxAmount',
  'maxBudget',
  'percentage',
  'merchantCompensationPercentage',
]

/**
 * The changes of an edit as the history shows them, with values as in the form. Long lists, and always the terminals,
 * are shown only by their length, because the history keeps every edit.
 */
export function shownChanges(
  present: Partial<Fields>,
  merged: Partial<Fields>,
  changed: readonly FieldName[],
): Record<string, readonly [unknown, unknown] | null> {
  const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0)
  const shown = (name: FieldName, fields: Partial<Fields>): unknown => {
    const value = fields[name] ?? null
    if (name === 'terminals') return fields.terminals?.count ?? 0
    if (isLongList(present[name]) || isLongList(merged[name])) return lengthOf(value)
    return decimals.includes(name) && value !== null ? Number(value) : value
  }
  const change = (name: FieldName) =>
    withoutValues.includes(name) ? null : ([shown(name, present), shown(name, merged)] as const)
  return Object.fromEntries(changed.map(name => [name, change(name)]))
}

const elements = (list: readonly unknown[]): Set<string> => new Set(list.map(element => JSON.stringify(element)))

/** The errors for changes that the campaign's state does not allow. */
export function lockedErrors(
  campaign: EditedCampaign,
  params: {
    present: Partial<Fields>
    merged: Partial<Fields>
    terminals: TerminalChange | null
    changed: readonly FieldName[]
    now: Date
  },
): BrokenRule[] {
  const { fields, onlyAdding } = editable(campaign, params.now)
  return params.changed.flatMap(name => {
    if (!fields.includes(name)) return [whyLocked(name, campaign, params.now)]
    if (!onlyAdding || !growingFields.includes(name)) return []
    const missing =
      name === 'terminals'
        ? (params.terminals?.firstMissing ?? null)
        : firstMissing(params.present[name], params.merged[name])
    if (missing === null) return []
    const isOther = name === 'terminals' && params.terminals?.isOnlyOther
    return [
      isOther ? broken(name, 'unchanged-elements', { changed: missing }) : broken(name, 'only-additions', { missing }),
    ]
  })
}

function whyLocked(name: FieldName, campaign: EditedCampaign, now: Date): BrokenRule {
  if (isOver(campaign, now)) return broken(name, 'unchanged-over')
  if (isOfDirectory(name, campaign)) return broken(name, 'unchanged-directory')
  return awaitsApproval(campaign)
    ? broken(name, 'unchanged-approved')
    : broken(name, 'unchanged-status', { status: campaign.status })
}

/** The first text of the old list that is not in the new list. */
function firstMissing(before: unknown, after: unknown): string | null {
  if (!Array.isArray(before) || !Array.isArray(after)) return null
  return before.find(element => !after.includes(element)) ?? null
}
