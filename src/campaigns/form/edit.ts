/** A merchant edits its campaign (contract/campaigns.md, "Edit"). */

import type { MerchantCaller } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { type GivenText, noText, withGivenText } from '../../db/staged-text.ts'
import type { BrokenRule } from '../../error-rules.ts'
import type { CampaignDeps } from '../deps.ts'
import type { Details } from '../for-merchant/details-store.ts'
import { readDetails, requireAuthor } from '../for-merchant/operations.ts'
import { actorOf } from '../lifecycle/actor.ts'
import type { Facts } from '../lifecycle/decided.ts'
import { lockCampaignByClock } from '../lifecycle/due-transitions.ts'
import { editable, editableFields } from '../lifecycle/editable-fields.ts'
import { type Guard, requireExpected } from '../lifecycle/expected-version.ts'
import * as lifecycle from '../lifecycle/lifecycle.ts'
import type { LockedCampaign } from '../lifecycle/locking-store.ts'
import { writeDecisions } from '../lifecycle/transitions-store.ts'
import { campaignNotFound } from '../not-found.ts'
import { findDirectoryEntries, findTerms, updateTerms } from './campaign-store.ts'
import { changedFields, lockedErrors, mergedFields, shownChanges } from './changes.ts'
import { bankErrors, directoryErrors, requireNoErrors } from './create.ts'
import { countEdit } from './edits-per-day-store.ts'
import {
  contradictions,
  crossErrors,
  type FieldName,
  type Fields,
  type ReadFields,
  readFields,
  unfitTexts,
} from './form.ts'
import { editErrors } from './pending-store.ts'
import { compareTerminals, noteAddedTerminals, type TerminalChange } from './terminal-list-store.ts'
import { cardText, type Terms } from './terms.ts'

export type Edit = Guard & {
  merchant: MerchantCaller
  cashbackId: string
  /** The body as it was sent. An absent field stays as it is, and null clears an optional field. */
  body: unknown
  /** The schema errors of the body. */
  schemaErrors: readonly BrokenRule[]
}

type Known = Terms & { participantsIds: string[] }

/**
 * Changes the given fields, all or none. A field that is given with its present value is not a change, so it is accepted even
 * when the field may not change.
 *
 * @returns the details of the version that this edit wrote, or of the present one if nothing changed. They are read
 *   before the lock is released, so no later edit is in them.
 * @throws DomainError 'invalid' with all errors; 'not-found' for an unknown campaign; 'forbidden' for anybody but the author;
 *   'stale' when the edit was made from another version of the campaign; 'too-many' when the campaign has reached its maximum
 *   of edits for today
 */
export function edit(deps: CampaignDeps, params: Edit): Promise<Details> {
  return deps.database.transaction(async transaction => {
    const read = readFields(params.body)
    const terminals = read.fields.terminals?.text ?? null
    await withGivenText(transaction, terminals, input => editWith(transaction, deps, params, { ...read, input }))
    return readDetails({ database: transaction }, params)
  })
}

async function editWith(
  transaction: Queryable,
  deps: CampaignDeps,
  params: Edit,
  { fields, errors, input }: ReadFields & { input: GivenText },
): Promise<void> {
  // These errors do not depend on the stored campaign: a body with contradictory fields is always invalid.
  const formErrors = [...params.schemaErrors, ...errors, ...contradictions(fields)]
  const campaign = await lockOwn(transaction, deps, params, [...formErrors, ...unfitTexts(fields)])
  const now = deps.clock.now()

  const names = editableFields.filter(name => Object.hasOwn(Object(params.body), name))
  const present = await findPresent(transaction, campaign)
  const merged = mergedFields(present, fields, names)
  const terminals = await changeOfTerminals(transaction, campaign, { present, merged, names, input })
  const unfit = unfitTexts(fields, { present, addedTerminals: terminals?.added ?? [] })
  if (formErrors.length === 0 && unfit.length === 0) requireExpected(campaign, params)
  const changed = changedFields(present, merged, { names, terminals })
  const found = await findDirectoryEntries(transaction, {
    merchantId: campaign.merchantId,
    banks: merged.participantsIds,
    countryCode: merged.countryCode,
    paymentSystems: merged.paymentSystemsId,
  })
  const edited = { ...campaign, terminalsPlatform: present.terminalsPlatform }
  const isOpen = editable(edited, now).fields.length > 0
  // Banks that are already invited are accepted, even if they were disconnected since.
  const banks = [...found.banks, ...present.participantsIds]
  requireNoErrors([
    ...formErrors,
    ...unfit,
    ...lockedErrors(edited, { present, merged, terminals, changed, now }),
    ...(isOpen ? crossErrors(merged, now) : []),
    ...bankErrors(merged.participantsIds, { ...found, banks }),
    ...directoryErrors(merged, found),
  ])
  if (changed.length === 0) return
  await countEdit(transaction, campaign.cashbackId)
  const { countryId } = found
  await requireRoom(transaction, deps, { campaign, changed, after: merged as Known, countryId })
  await write(transaction, {
    campaign,
    before: present,
    after: merged as Known,
    changed,
    countryId,
    merchant: params.merchant,
    now,
    input,
  })
}

/**
 * Checks the merchant's limits for campaigns that no bank has approved yet. Does nothing for other campaigns.
 *
 * @throws DomainError 'invalid' when the edit makes the campaign too large
 */
async function requireRoom(
  transaction: Queryable,
  { pending, clock }: CampaignDeps,
  { campaign, changed, after, countryId }: Pick<Write, 'campaign' | 'changed' | 'after' | 'countryId'>,
): Promise<void> {
  if (!pending || !isPending(campaign) || !changed.some(name => sized.includes(name))) return
  const content = {
    card: cardText(campaign, after, countryId ?? ''),
    terminalsPlatform: after.terminalsPlatform,
    terminals: changed.includes('terminals') ? after.terminals : undefined,
  }
  requireNoErrors(await editErrors(transaction, pending, { ...campaign, content, clock }))
}

/** The fields that can be large. */
const sized: readonly FieldName[] = [
  'terminals',
  'terminalsPlatform',
  'bannerSmall',
  'bannerBig',
  'sku',
  'categoryId',
  'merchantCategoryCode',
]

const isPending = (campaign: LockedCampaign): boolean =>
  lifecycle.awaitsApproval(campaign) && !lifecycle.isAgreed(campaign)

/**
 * Locks the campaign. Its author must be the calling merchant.
 *
 * @throws DomainError for a campaign that is unknown or has another author: 'invalid' when the form has errors,
 *   otherwise 'not-found' or 'forbidden'
 */
async function lockOwn(
  transaction: Queryable,
  deps: CampaignDeps,
  { cashbackId, merchant }: Edit,
  formErrors: readonly BrokenRule[],
): Promise<LockedCampaign> {
  const campaign = await lockCampaignByClock(transaction, deps, cashbackId)
  const isOwn = campaign?.merchantId === merchant.merchantId && campaign.createdByBankId === null
  if (!isOwn) requireNoErrors(formErrors)
  if (!campaign) throw campaignNotFound('not-found')
  requireAuthor(campaign, merchant)
  return campaign
}

async function findPresent(transaction: Queryable, campaign: LockedCampaign): Promise<Known> {
  const terms = await findTerms(transaction, campaign.cashbackId)
  return { ...terms, participantsIds: campaign.banks.map(({ bankId }) => bankId) }
}

/**
 * How the given terminals differ from the current ones; null when none are given.
 *
 * With `terminalsPlatform`, readers of the campaign get the terminals of the platform's directory, and the campaign's
 * own list is hidden. If an edit sends the directory's terminals back unchanged, this is not a change, and the hidden
 * list stays. If an edit sends another list, it replaces the hidden one. Readers get it once `terminalsPlatform` is
 * false.
 */
async function changeOfTerminals(
  transaction: Queryable,
  { cashbackId, merchantId }: LockedCampaign,
  {
    present,
    merged,
    names,
    input,
  }: { present: Known; merged: Partial<Fields>; names: readonly FieldName[]; input: GivenText },
): Promise<TerminalChange | null> {
  const { terminals, terminalsPlatform } = merged
  if (!names.includes('terminals') || !terminals) return null
  const unfit = [...new Set(terminals.unfit.map(path => Number.parseInt(path, 10)))]
  if (!present.terminalsPlatform) return compareTerminals(transaction, { cashbackId }, input, unfit)
  const fromShown = await compareTerminals(transaction, { merchantId }, input, unfit)
  if (terminalsPlatform && !fromShown.isChanged) return fromShown
  // The campaign shows the directory's terminals, so these are the ones that may be sent back.
  return { ...(await compareTerminals(transaction, { cashbackId }, input, [])), added: fromShown.added }
}

type Write = {
  campaign: LockedCampaign
  before: Known
  after: Known
  changed: readonly FieldName[]
  countryId: string | null
  merchant: MerchantCaller
  now: Date
  input: GivenText
}

async function write(
  transaction: Queryable,
  { campaign, before, after, changed, countryId, merchant, now, input }: Write,
): Promise<void> {
  if (countryId === null) throw new Error('The country must exist here: the form was checked')
  const { participantsIds, ...terms } = after
  const isNew = changed.includes('terminals')
  const terminals = isNew ? terms.terminals : before.terminals
  // While readers get the directory's terminals, nobody sees the campaign's own list. So neither events nor the history
  // tell of its change.
  const told = after.terminalsPlatform ? changed.filter(name => name !== 'terminals') : changed
  const facts: Facts = {}
  if (told.includes('terminals'))
    facts.terminalsAdded = await noteAddedTerminals(transaction, { cashbackId: campaign.cashbackId, input, now })
  await updateTerms(transaction, campaign, { ...terms, terminals }, countryId, isNew ? input : noText)
  if (told.length === 0) return
  const decision = lifecycle.changeBanks(campaign, participantsIds)
  const changes = shownChanges(before, after, told)
  const notes = [{ trigger: 'edit', subject: 'campaign', bankId: null, changes } as const]
  await writeDecisions(transaction, [{ campaign, decision, notes, facts }], { actor: actorOf(merchant), now })
}
