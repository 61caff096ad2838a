import { Button, Card, Checkbox, Group, NumberInput, Radio, Stack, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { changeSeen } from '../../api/change-seen.ts'
import { api, ifMatch, versioned } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import type { Named } from '../../people/named.ts'
import { type Draft, useDraft } from '../../session/draft.ts'
import { DraftNotice } from '../../session/draft-notice.tsx'
import { factorsQuery } from '../../session/factors-query.ts'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { StaleForm } from '../../ui/stale-form.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { AccountChoice, ChooseFirst, useChosenAccount } from '../components/account-choice.tsx'
import { type Policy, policyQuery, useAccountChanged } from '../queries.ts'
import { accountTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/account/security')

/** The account's policy for its people and systems. */
export function SecurityPage() {
  const texts = useTexts(accountTexts).security
  const search = route.useSearch()
  const account = useChosenAccount(search)
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <AccountChoice search={search} />
      {account ? <LoadedPolicy named={account.named} /> : <ChooseFirst />}
    </>
  )
}

function LoadedPolicy({ named }: { named: Named }) {
  const query = useQuery(policyQuery(named))
  const [loaded, setLoaded] = useState(0)
  const load = async () => {
    await query.refetch()
    setLoaded(count => count + 1)
  }
  return (
    <>
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.data ? (
        <KeptPolicyForm key={`${JSON.stringify(named)} ${loaded}`} policy={query.data} named={named} onLoad={load} />
      ) : (
        !query.error && <Loading />
      )}
    </>
  )
}

const fields = ['mfa', 'sessionMinutes', 'addresses.people', 'addresses.systems', 'force'] as const

type Networks = { people: string[]; systems: string[] }
const networksOf = ({ people, systems }: { people: string; systems: string }): Networks => ({
  people: linesOf(people),
  systems: linesOf(systems),
})

/** Errors name a network by its index in the list. This replaces the index by the network that the person typed. */
function withNetworks(error: unknown, networks: Networks): unknown {
  if (!isApiError(error)) return error
  const named = (field: string) =>
    field.replace(/^addresses\.(people|systems)\.(\d+)$/, (path, kind: keyof Networks, place) => {
      const network = networks[kind][Number(place)]
      return network === undefined ? path : `addresses.${kind}.${network}`
    })
  return error.with({ fieldErrors: error.fieldErrors.map(one => ({ ...one, field: named(one.field) })) })
}

const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter(line => line !== '')

type PolicyValues = {
  mfa: Policy['mfa']
  sessionMinutes: number | string
  addresses: { people: string; systems: string }
  force: boolean
}
/** Whether the policy has these values already. */
function isSavedIn({ mfa, sessionMinutes, addresses }: Policy, values: PolicyValues): boolean {
  const { people, systems } = networksOf(values.addresses)
  const isSame = (one: readonly string[], other: readonly string[]) => one.join() === other.join()
  return (
    mfa === values.mfa &&
    sessionMinutes === Number(values.sessionMinutes) &&
    isSame(addresses.people, people) &&
    isSame(addresses.systems, systems)
  )
}

/** What the person has entered, and the version of the policy that the form began with. */
type PolicyInput = { values: PolicyValues; etag: Policy['etag'] }
type PolicyFormProps = { policy: Policy; named: Named; onLoad: () => Promise<void> }

/** The form with its draft. @param props.onLoad reads the policy again and resets the form */
function KeptPolicyForm(props: PolicyFormProps) {
  const draft = useDraft<PolicyInput>(`security-policy/${new URLSearchParams(props.named)}`)
  const [beginning, begin] = useState(0)
  if (!draft.isRead) return <Loading />
  return (
    <Stack>
      <DraftNotice draft={draft} onDiscard={() => begin(beginning + 1)} />
      <PolicyForm key={beginning} {...props} draft={draft} />
    </Stack>
  )
}

function PolicyForm({ policy, named, onLoad, draft }: PolicyFormProps & { draft: Draft<PolicyInput> }) {
  const texts = useTexts(accountTexts).security
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const agrees = useWarnings(policy, named)
  const queryClient = useQueryClient()
  // If the answer to an earlier save got lost, the draft's values may be stored already. Then the draft is discarded.
  const [restored] = useState(() => {
    const kept = draft.restored?.values
    return kept && kept.etag !== policy.etag && isSavedIn(policy, kept.values) ? null : (kept ?? null)
  })
  const { restored: stored, discard } = draft
  useEffect(() => {
    if (stored !== null && restored === null) discard()
  }, [stored, restored, discard])
  // The version that the person sees in the form. The query may have loaded a newer one since.
  const [etag, setEtag] = useState(restored?.etag ?? policy.etag)
  const [isStale, setStale] = useState(false)
  const form = useForm<PolicyValues>({
    initialValues: {
      mfa: policy.mfa,
      sessionMinutes: policy.sessionMinutes,
      addresses: { people: policy.addresses.people.join('\n'), systems: policy.addresses.systems.join('\n') },
      force: false,
      ...restored?.values,
    },
    onValuesChange: values => draft.keep({ values, etag }),
  })
  const { place, clear, rest } = useFieldErrors(form, fields)
  const save = useMutation({
    mutationFn: (values: typeof form.values) => {
      const { mfa, sessionMinutes, addresses, force } = values
      const body = { mfa, sessionMinutes: Number(sessionMinutes), addresses: networksOf(addresses), force }
      const headers = ifMatch(etag)
      return changeSeen({
        send: () =>
          fresh(() => versioned(api.PUT('/portal/security-policy', { params: { query: named }, body, headers }))),
        read: () => queryClient.fetchQuery({ ...policyQuery(named), staleTime: 0 }),
        isSavedIn: newer => isSavedIn(newer, values),
      })
    },
    onMutate() {
      clear()
      setStale(false)
    },
    onSuccess({ isSaved, stored: saved }) {
      if (!isSaved) return setStale(true)
      draft.discard()
      setEtag(saved.etag)
      void changed()
      notify.done(texts.saved)
    },
    onError: (error, { addresses }) => place(withNetworks(error, networksOf(addresses))),
  })
  return (
    <Card>
      <form
        noValidate
        onSubmit={form.onSubmit(async values => {
          if (await agrees(values)) save.mutate(values)
        })}
      >
        <Stack maw={560}>
          {isStale && (
            <StaleForm
              title={texts.stale}
              text={texts.staleText}
              action={texts.load}
              onLoad={() => {
                draft.discard()
                void onLoad()
              }}
            />
          )}
          {rest !== null && <Failure error={rest} />}
          <Radio.Group label={texts.mfa} {...form.getInputProps('mfa')}>
            <Stack gap="xs" mt="xs">
              {(['off', 'optional', 'required'] as const).map(value => (
                <Radio key={value} value={value} label={texts.rules[value]} />
              ))}
            </Stack>
          </Radio.Group>
          <NumberInput
            label={texts.minutes}
            min={15}
            max={120}
            allowDecimal={false}
            clampBehavior="none"
            {...form.getInputProps('sessionMinutes')}
          />
          <Textarea
            label={texts.people}
            description={texts.networksHint}
            autosize
            minRows={2}
            {...form.getInputProps('addresses.people')}
          />
          <Textarea
            label={texts.systems}
            description={texts.networksHint}
            autosize
            minRows={2}
            {...form.getInputProps('addresses.systems')}
          />
          {form.values.addresses.people.trim() !== '' && (
            <Checkbox label={texts.force} {...form.getInputProps('force', { type: 'checkbox' })} />
          )}
          <Group>
            <Button type="submit" loading={save.isPending}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

/**
 * @returns a function that asks for confirmation if the new rules take access from the person or from systems. It
 *   returns whether the rules may be saved
 */
function useWarnings(policy: Policy, named: Named) {
  const texts = useTexts(accountTexts).security
  const confirm = useConfirm()
  const factors = useQuery(factorsQuery).data
  const isOwn = Object.keys(named).length === 0
  return async ({ mfa, addresses }: { mfa: string; addresses: { people: string; systems: string } }) => {
    const { systems } = networksOf(addresses)
    const isAskedAtOnce = isOwn && mfa === 'required' && policy.mfa !== 'required' && factors?.totp === null
    const isNarrowed = systems.length > 0 && systems.join() !== policy.addresses.systems.join()
    const warnings = [...(isAskedAtOnce ? [texts.requiredText] : []), ...(isNarrowed ? [texts.systemsText] : [])]
    if (warnings.length === 0) return true
    return confirm({ title: texts.warnTitle, text: warnings.join(' '), action: texts.save, isDangerous: true })
  }
}
