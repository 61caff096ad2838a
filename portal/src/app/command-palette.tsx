/**
 * The command palette. It finds pages, actions of the person's role, and campaigns by name; for the operator also
 * orders by the bank's reference. Its code is loaded when it is first opened.
 */
import { routingTexts } from '../routing/texts.ts'
import '@mantine/spotlight/styles.layer.css'
import { useComputedColorScheme, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import {
  type Icon,
  IconLanguage,
  IconMoon,
  IconPlus,
  IconReceipt,
  IconSearch,
  IconSpeakerphone,
  IconSun,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useId, useState } from 'react'
import { languageNames } from '../i18n/language.ts'
import { useFormat, useNames, usePreferences, useTexts } from '../i18n/preferences.tsx'
import { mayChange, maySeeCampaigns } from '../session/rights.ts'
import { areaOf } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'
import { statusTexts } from '../ui/status-texts.ts'
import { foundCampaignsQuery } from './found-campaigns.ts'
import { foundOrdersQuery } from './found-orders.ts'
import { navigationOf } from './navigation.ts'
import { appTexts } from './texts.ts'

const [store, palette] = createSpotlight()
// The library's own half-transparent descriptions have too little contrast where a command is selected.
const styles = { actionDescription: { opacity: 1 } }

type Command = { key: string; label: string; description?: string; icon: Icon; run: () => void }

/** @param props.opened counts how often it was opened */
export function CommandPalette({ opened }: { opened: number }) {
  const { palette: texts } = useTexts(appTexts)
  const [query, setQuery] = useState('')
  const words = query.trim().toLowerCase()
  const fits = ({ label }: Command) => label.toLowerCase().includes(words)
  const pages = usePages().filter(fits)
  const actions = useActions().filter(fits)
  const { campaigns, isLooking } = useCampaigns(words)
  const found = useOrders(query.trim())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the palette opens each time that `opened` changes
  useEffect(() => palette.open(), [opened])
  useFirstSelected(
    words === '' ? '' : [...campaigns, ...found.orders, ...pages, ...actions].map(({ key }) => key).join(),
  )
  const listId = useId()
  const [list, setList] = useState<HTMLElement | null>(null)
  const selectedId = useSelectedId(list)
  const given = { listId, selectedId }
  const count = pages.length + actions.length + campaigns.length + found.orders.length
  const isSearching = isLooking || found.isLooking
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      attributes={{ content: { 'aria-label': texts.open } }}
    >
      <Spotlight.Search
        aria-label={texts.placeholder}
        placeholder={texts.placeholder}
        leftSection={<IconSearch size={20} aria-hidden />}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={count > 0}
        aria-controls={listId}
        aria-activedescendant={selectedId}
      />
      <Spotlight.ActionsList>
        <div id={listId} role="listbox" aria-label={texts.open} ref={setList}>
          <Commands label={texts.campaigns} commands={campaigns} {...given} />
          <Commands label={texts.orders} commands={found.orders} {...given} />
          <Commands label={texts.pages} commands={pages} {...given} />
          <Commands label={texts.actions} commands={actions} {...given} />
        </div>
        <div role="status">
          {count === 0 ? (
            <Spotlight.Empty>{isSearching ? texts.looking : texts.nothing}</Spotlight.Empty>
          ) : (
            words !== '' && !isSearching && <VisuallyHidden>{texts.found(count)}</VisuallyHidden>
          )}
        </div>
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

/**
 * Selects the first command whenever the shown commands change, so that Enter runs it. The library selects it only
 * while somebody types, but found campaigns appear later.
 *
 * @param found the shown commands; '' while there is no search text
 */
function useFirstSelected(found: string): void {
  useEffect(() => {
    const list = document.getElementById(store.getState().listId)
    if (found === '' || !list) return
    for (const selected of list.querySelectorAll('[data-selected]')) selected.removeAttribute('data-selected')
    list.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
    store.updateState(state => ({ ...state, selected: 0 }))
  }, [found])
}

/**
 * @returns the id of the selected command, for screen readers. The library keeps the selection only in the attribute
 *   `data-selected` of the document
 */
function useSelectedId(list: HTMLElement | null): string | undefined {
  const [id, setId] = useState<string>()
  useEffect(() => {
    if (!list) return setId(undefined)
    const read = () => setId(list.querySelector('[data-selected]')?.id)
    read()
    const observer = new MutationObserver(read)
    observer.observe(list, { subtree: true, childList: true, attributeFilter: ['data-selected'] })
    return () => observer.disconnect()
  }, [list])
  return id
}

type CommandsProps = { label: string; commands: readonly Command[]; listId: string; selectedId: string | undefined }

function Commands({ label, commands, listId, selectedId }: CommandsProps) {
  if (commands.length === 0) return null
  return (
    <Spotlight.ActionsGroup label={label} role="group" aria-label={label}>
      {commands.map(({ key, label: name, description, icon: Picture, run }) => (
        <Spotlight.Action
          key={key}
          // The library's command ignores the property `id`.
          ref={option => option?.setAttribute('id', `${listId}/${key}`)}
          role="option"
          aria-selected={`${listId}/${key}` === selectedId}
          label={name}
          styles={styles}
          {...(description !== undefined && { description })}
          leftSection={<Picture size={20} stroke={1.7} aria-hidden />}
          onClick={run}
        />
      ))}
    </Spotlight.ActionsGroup>
  )
}

function usePages(): Command[] {
  const { pages } = useTexts(routingTexts)
  const session = useSession()
  const router = useRouter()
  return navigationOf(session).map(({ to, text, icon }) => ({
    key: to,
    label: pages[text],
    icon,
    run: () => void router.navigate({ to }),
  }))
}

function useActions(): Command[] {
  const texts = useTexts(appTexts)
  const session = useSession()
  const router = useRouter()
  const { language, setLanguage } = usePreferences()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark'
  const other = language === 'uk' ? 'en' : 'uk'
  const create: Command = {
    key: 'create',
    label: texts.palette.newCampaign,
    icon: IconPlus,
    run: () =>
      void router.navigate({ to: session.typeAccount === 'bank' ? '/bank/campaigns/new' : '/merchant/campaigns/new' }),
  }
  return [
    ...(session.typeAccount !== 'platform' && mayChange(session) ? [create] : []),
    {
      key: 'colours',
      label: isDark ? texts.toLight : texts.toDark,
      icon: isDark ? IconSun : IconMoon,
      run: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    { key: 'language', label: languageNames[other], icon: IconLanguage, run: () => setLanguage(other) },
  ]
}

const minCharacters = 2

function useCampaigns(words: string): { campaigns: Command[]; isLooking: boolean } {
  const session = useSession()
  const router = useRouter()
  const format = useFormat()
  const names = useNames()
  const statuses = useTexts(statusTexts).campaign
  const [settled] = useDebouncedValue(words, 200)
  const isAsked = words.length >= minCharacters && maySeeCampaigns(session)
  const { data, isFetching } = useQuery({
    ...foundCampaignsQuery(session.typeAccount, settled),
    enabled: isAsked && settled.length >= minCharacters,
  })
  const to = `${areaOf[session.typeAccount]}/campaigns/$cashbackId` as const
  const campaigns = (isAsked && data ? data : []).map(({ cashbackId, name, retailer, status, dateFrom, dateTo }) => ({
    key: cashbackId,
    label: name,
    // Distinguishes campaigns that have the same name.
    description: [retailer && names.of(retailer), format.period(dateFrom, dateTo), statuses[status]]
      .filter(Boolean)
      .join(' · '),
    icon: IconSpeakerphone,
    run: () => void router.navigate({ to, params: { cashbackId } }),
  }))
  return { campaigns, isLooking: isAsked && (isFetching || settled !== words) }
}

/** @param reference the typed text with its capital letters, because the banks' references are case-sensitive */
function useOrders(reference: string): { orders: Command[]; isLooking: boolean } {
  const session = useSession()
  const router = useRouter()
  const statuses = useTexts(statusTexts).order
  const [settled] = useDebouncedValue(reference, 200)
  const isAsked = reference.length >= minCharacters && session.typeAccount === 'platform'
  const { data, isFetching } = useQuery({
    ...foundOrdersQuery(settled),
    enabled: isAsked && settled.length >= minCharacters,
  })
  const orders = (isAsked && data ? data : []).map(({ orderId, externalId, bank, tariffName, status }) => ({
    key: orderId,
    label: externalId,
    description: [bank.name, tariffName, statuses[status]].join(' · '),
    icon: IconReceipt,
    run: () => void router.navigate({ to: '/operator/orders/$orderId', params: { orderId } }),
  }))
  return { orders, isLooking: isAsked && (isFetching || settled !== reference) }
}
