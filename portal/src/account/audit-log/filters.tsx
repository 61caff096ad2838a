import { Button, NativeSelect, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import classes from '../../campaigns/parts.module.css'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import { DaysFilter } from '../../ui/days-filter.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { partnersToChooseQuery } from '../queries.ts'
import { actionGroups, actionTexts } from './action-texts.ts'
import type { Actor } from './names.ts'
import { type AuditLogFilters, readObject, writeObject } from './search.ts'
import { auditLogTexts } from './texts.ts'

type FilterProps = { filters: AuditLogFilters; onFilter: (change: Partial<AuditLogFilters>) => void }
type Choice = { value: string; label: string }

const nothing = {
  from: undefined,
  to: undefined,
  action: undefined,
  actor: undefined,
  object: undefined,
  account: undefined,
}

/** Adds the value from the page's address to the choices if they do not contain it, so that the filter can show it. */
const withChosen = (choices: readonly Choice[], chosen: string | undefined): Choice[] =>
  chosen === undefined || choices.some(({ value }) => value === chosen)
    ? [...choices]
    : [...choices, { value: chosen, label: chosen }]

/** The filters of the table of entries. */
export function EntryFilters({ filters, onFilter, actors }: FilterProps & { actors: readonly Actor[] }) {
  const texts = useTexts(auditLogTexts)
  const { typeAccount } = useSession()
  const { actor, from, to } = filters
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  const choices = actors.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <div className={classes.filters} style={{ marginBlockEnd: 'var(--mantine-spacing-md)' }}>
      {typeAccount === 'platform' && <AccountFilter filters={filters} onFilter={onFilter} />}
      <ActionFilter filters={filters} onFilter={onFilter} />
      <NativeSelect
        aria-label={texts.who}
        data={[{ value: '', label: texts.anyActor }, ...withChosen(choices, actor)]}
        value={actor ?? ''}
        onChange={({ currentTarget }) => onFilter({ actor: currentTarget.value || undefined })}
      />
      <ObjectFilter filters={filters} onFilter={onFilter} />
      <DaysFilter
        aria-label={texts.days}
        placeholder={texts.days}
        isClearable
        value={[from ?? null, to ?? null]}
        onChange={([first, last]) => onFilter({ from: first ?? undefined, to: last ?? undefined })}
      />
      {isFiltered && (
        <Button variant="subtle" onClick={() => onFilter(nothing)}>
          {texts.clear}
        </Button>
      )}
    </div>
  )
}

function AccountFilter({ filters: { account }, onFilter }: FilterProps) {
  const texts = useTexts(auditLogTexts)
  const names = useNames()
  const [typed, setTyped] = useState('')
  const [debounced] = useDebouncedValue(typed.trim(), 200)
  // Until the person types, the field shows the chosen account, and its text is not searched for.
  const [isTyping, setIsTyping] = useState(false)
  const words = isTyping ? debounced : ''
  const { data: banks = [] } = useQuery(partnersToChooseQuery('bank', ''))
  const { data: merchants = [] } = useQuery(partnersToChooseQuery('merchant', words))
  // Searches for the chosen merchant by its id, so that its name can be shown whatever the person types.
  const { data: chosen = [] } = useQuery({
    ...partnersToChooseQuery('merchant', account ?? ''),
    enabled: account !== undefined,
  })
  const found = new Set(merchants.map(({ id }) => id))
  const partners = [...banks, ...merchants, ...chosen.filter(({ id }) => !found.has(id))]
  const choices = partners.map(each => ({ value: each.id, label: names.of(each) }))
  return (
    <Select
      aria-label={texts.account}
      placeholder={texts.anyAccount}
      searchable
      // The list itself scrolls, because a scrolling box around it would have to be focusable.
      withScrollArea={false}
      styles={{ options: { maxHeight: 220, overflowY: 'auto' } }}
      data={[
        ...(account === undefined ? [] : [{ value: '', label: texts.anyAccount }]),
        ...withChosen(choices, account),
      ]}
      filter={({ options, search }) =>
        // The platform also finds merchants by names other than the shown one.
        options.filter(
          option => 'value' in option && (!isTyping || found.has(option.value) || isIn(option.label, search)),
        )
      }
      value={account ?? null}
      onChange={id => {
        setIsTyping(false)
        onFilter({ account: id || undefined })
      }}
      searchValue={typed}
      onSearchChange={setTyped}
      onInput={() => setIsTyping(true)}
    />
  )
}

const isIn = (label: string, words: string): boolean => label.toLowerCase().includes(words.trim().toLowerCase())

function ActionFilter({ filters: { action }, onFilter }: FilterProps) {
  const texts = useTexts(auditLogTexts)
  const actions = useTexts(actionTexts)
  const groups = actionGroups.map(group => ({
    group: actions.groups[group],
    items: Object.entries(actions[group]).map(([value, label]) => ({ value, label })),
  }))
  const isKnown = groups.some(({ items }) => items.some(({ value }) => value === action))
  const unknown = action === undefined || isKnown ? [] : [{ value: action, label: action }]
  return (
    <NativeSelect
      aria-label={texts.action}
      data={[{ value: '', label: texts.anyAction }, ...unknown, ...groups]}
      value={action ?? ''}
      onChange={({ currentTarget }) => onFilter({ action: currentTarget.value || undefined })}
    />
  )
}

/** Filters by a kind of object, and then by the id of one object. */
function ObjectFilter({ filters, onFilter }: FilterProps) {
  const texts = useTexts(auditLogTexts)
  const { objects } = useTexts(actionTexts)
  const object = readObject(filters.object)
  const choices = Object.entries(objects).map(([value, label]) => ({ value, label }))
  return (
    <>
      <NativeSelect
        aria-label={texts.object}
        data={[{ value: '', label: texts.anyObject }, ...withChosen(choices, object?.type)]}
        value={object?.type ?? ''}
        onChange={({ currentTarget }) => onFilter({ object: currentTarget.value || undefined })}
      />
      {object && (
        <SearchInput
          label={texts.objectId}
          maxLength={128}
          value={object.id}
          onChange={id => onFilter({ object: writeObject(object.type, id) })}
        />
      )}
    </>
  )
}
