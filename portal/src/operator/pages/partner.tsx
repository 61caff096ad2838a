import { Button, Card, Group, Stack, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { InviteForm } from '../../people/invite-form.tsx'
import { inviteTexts } from '../../people/texts.ts'
import { useMayChange } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { type KeyFact, KeyFacts } from '../../ui/key-facts.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Count, none } from '../../ui/values.tsx'
import { CredentialsTable, UsersTable } from '../components/access-tables.tsx'
import { CredentialForm } from '../components/credential-form.tsx'
import { type Owner, ownerAccount } from '../components/owner.ts'
import { BankForm, MerchantForm } from '../components/partner-forms.tsx'
import { useBankNames } from '../components/partner-select.tsx'
import { SuspendButton } from '../components/suspend-button.tsx'
import { Terminals } from '../components/terminals.tsx'
import {
  type Bank,
  credentialsQuery,
  invitationsQuery,
  type Merchant,
  merchantQuery,
  partnersQuery,
  usersQuery,
} from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/partners/$kind/$code')

/** One bank or merchant: its details, its access, and a merchant's terminals. */
export function PartnerPage() {
  const { kind, code } = route.useParams()
  return kind === 'banks' ? <BankPage code={code} /> : <MerchantPage code={code} />
}

const toBanks = <const Search,>(search: Search) => ({ to: '/operator/partners' as const, search })

function Back({ kind }: { kind: 'banks' | 'merchants' }) {
  const { partners: texts } = useTexts(operatorTexts)
  return <BackLink {...toBanks(kind === 'merchants' ? { tab: kind } : {})}>{texts.title}</BackLink>
}

function BankPage({ code }: { code: string }) {
  const { partners: texts } = useTexts(operatorTexts)
  const query = useQuery(partnersQuery())
  return (
    <PageLoaded query={query} back={<Back kind="banks" />} notShown={texts.notShown} notFound={texts.isUnknown}>
      {({ banks }) => {
        const bank = banks.find(({ entry }) => entry.code === code)
        return bank ? <WholeBank bank={bank} /> : <PageHeader back={<Back kind="banks" />} title={texts.isUnknown} />
      }}
    </PageLoaded>
  )
}

function WholeBank({ bank: { entry } }: { bank: Bank }) {
  const { partners: texts } = useTexts(operatorTexts)
  const names = useNames()
  const format = useFormat()
  const { data } = useQuery(partnersQuery())
  const { operators, reservationShare, deliveryMode, statement } = entry.esim
  const sold = data?.mobileOperators.filter(each => operators !== 'all' && operators.includes(each.code)) ?? []
  return (
    <Whole
      kind="banks"
      entry={entry}
      name={entry.name}
      onEdit={() => modals.open({ title: entry.name, size: 'lg', children: <BankForm entry={entry} /> })}
      facts={[
        { label: texts.delivery, value: texts.deliveryModes[deliveryMode] },
        {
          label: texts.operators,
          value: operators === 'all' ? texts.allOperators : format.list(sold.map(names.of)) || texts.none,
        },
        { label: texts.fields['esim.reservationShare'], value: reservationShare ?? texts.shareDefault },
        { label: texts.fields['esim.statement.timeZone'], value: statement.timeZone },
        {
          label: texts.fields['esim.statement.commissionPercentage'],
          value: format.percent(statement.commissionPercentage),
        },
        { label: texts.fields.segments, value: entry.segments ? texts.yes : texts.no },
      ]}
    />
  )
}

function MerchantPage({ code }: { code: string }) {
  const { partners: texts } = useTexts(operatorTexts)
  const query = useQuery(merchantQuery(code))
  return (
    <PageLoaded query={query} back={<Back kind="merchants" />} notShown={texts.notShown} notFound={texts.isUnknown}>
      {merchant => <WholeMerchant merchant={merchant} />}
    </PageLoaded>
  )
}

function WholeMerchant({ merchant: { entry, terminals } }: { merchant: Merchant }) {
  const { partners: texts } = useTexts(operatorTexts)
  const names = useNames()
  const bankNames = useBankNames()
  const { domain, merchantCategoryCode, excludedBanks } = entry
  return (
    <Whole
      kind="merchants"
      entry={entry}
      name={names.of(entry)}
      onEdit={() => modals.open({ title: names.of(entry), size: 'lg', children: <MerchantForm entry={entry} /> })}
      facts={[
        { label: texts.fields.domain, value: domain.join(', ') || none },
        { label: texts.fields.merchantCategoryCode, value: merchantCategoryCode.join(', ') || none },
        { label: texts.excluded, value: bankNames(excludedBanks) || texts.none },
        { label: texts.terminals, value: <Count value={terminals} /> },
      ]}
    >
      <Terminals code={entry.code} />
    </Whole>
  )
}

function Whole(props: {
  kind: 'banks' | 'merchants'
  entry: { code: string; status: 'active' | 'suspended' }
  name: string
  onEdit: () => void
  facts: KeyFact[]
  children?: ReactNode
}) {
  const { kind, entry, name, onEdit, facts, children } = props
  const { partners: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  return (
    <>
      <PageHeader
        back={<Back kind={kind} />}
        title={name}
        badge={<StatusBadge of="partner" status={entry.status} />}
        lead={entry.code}
        actions={
          mayChange && (
            <Group gap="sm">
              <SuspendButton kind={kind} entry={entry} name={name} />
              <Button onClick={onEdit}>{texts.edit}</Button>
            </Group>
          )
        }
      />
      <Stack gap="xl">
        <Card>
          <KeyFacts facts={facts} />
        </Card>
        <Access owner={{ kind: kind === 'banks' ? 'bank' : 'merchant', code: entry.code }} name={name} />
        {children}
      </Stack>
    </>
  )
}

/** The partner's users, invited ones included, and its credentials. New ones belong to this partner, so their forms do not ask for one. */
function Access({ owner, name }: { owner: Owner; name: string }) {
  const { access: texts } = useTexts(operatorTexts)
  const inviting = useTexts(inviteTexts)
  const mayChange = useMayChange()
  const account = ownerAccount(owner)
  const partner = account.named
  const users = useQuery(usersQuery(partner))
  const { data: invited = [] } = useQuery({ ...invitationsQuery(partner), enabled: mayChange })
  const credentials = useQuery(credentialsQuery(partner))
  const invite = () => modals.open({ title: inviting.title(name), children: <InviteForm {...account} /> })
  const issue = () => modals.open({ title: texts.issue, children: <CredentialForm owner={owner} /> })
  return (
    <>
      <Section title={texts.tabs.users} action={mayChange && { label: inviting.invite, act: invite }}>
        <UsersTable
          query={users}
          rows={users.data && [...invited, ...users.data]}
          empty={<Empty title={texts.none} />}
        />
      </Section>
      <Section title={texts.tabs.credentials} action={mayChange && { label: texts.issue, act: issue }}>
        <CredentialsTable query={credentials} rows={credentials.data} empty={<Empty title={texts.noCredentials} />} />
      </Section>
    </>
  )
}

function Section(props: { title: string; action: false | { label: string; act: () => void }; children: ReactNode }) {
  const { title, action, children } = props
  return (
    <Stack component="section" gap="md" aria-label={title}>
      <Group justify="space-between">
        <Title order={2}>{title}</Title>
        {action && (
          <Button variant="default" onClick={action.act}>
            {action.label}
          </Button>
        )}
      </Group>
      {children}
    </Stack>
  )
}
