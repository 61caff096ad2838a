import { Button, Group, Menu, Stack, Switch, Text, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconChevronDown } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Money, none } from '../../ui/values.tsx'
import { OperatorForm } from '../components/operator-form.tsx'
import { applyTariff, TariffForm } from '../components/tariff-form.tsx'
import { applyEntry, type MobileOperator, partnersQuery, type Tariff, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const statuses = ['active', 'suspended', 'withdrawn'] as const

/** Mobile operators and their tariffs. */
export function MobileOperatorsPage() {
  const { mobile: texts } = useTexts(operatorTexts)
  const query = useQuery(partnersQuery())
  const mayChange = useMayChange()
  const add = () => modals.open({ title: texts.addOperator, children: <OperatorForm /> })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={mayChange && <Button onClick={add}>{texts.addOperator}</Button>}
      />
      <Loaded query={query}>
        {({ mobileOperators }) => (
          <Stack gap="xl">
            {mobileOperators.length === 0 && <Empty title={texts.none} />}
            {mobileOperators.map(operator => (
              <OneOperator key={operator.code} operator={operator} />
            ))}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function OneOperator({ operator }: { operator: MobileOperator }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const confirm = useConfirm()
  const names = useNames()
  const name = names.of(operator)
  const query = useQuery(partnersQuery())
  const setStatus = useMutation({
    mutationFn: (status: (typeof statuses)[number]) =>
      applyEntry({ esim: { operators: [{ code: operator.code, status }] } }),
    onSuccess: () => notify.done(texts.changed(name)),
    onError: notify.failed,
    onSettled: changed,
  })
  const ask = async (next: (typeof statuses)[number]) => {
    const question = {
      title: texts.statusTitles[next](name),
      text: texts.statusTexts[next],
      action: texts.statusActions[next],
      isDangerous: next !== 'active',
    }
    if (await confirm(question)) setStatus.mutate(next)
  }
  const status = setStatus.isPending ? setStatus.variables : operator.status
  const add = () => modals.open({ title: texts.add, children: <TariffForm operator={operator} /> })
  const edit = () => modals.open({ title: texts.editOperator(name), children: <OperatorForm operator={operator} /> })
  return (
    <section aria-label={name}>
      <Group justify="space-between" mb="md">
        <Group gap="sm">
          <Title order={2}>{name}</Title>
          <Text c="dimmed">{operator.country === 'global' ? texts.global : names.country(operator.country)}</Text>
          {!mayChange && <StatusBadge of="partner" status={operator.status} />}
        </Group>
        {mayChange && (
          <Group gap="sm">
            <Menu position="bottom-end">
              <Menu.Target>
                <Button
                  variant="default"
                  aria-label={`${texts.status}: ${name}, ${texts.statuses[status]}`}
                  rightSection={<IconChevronDown size={16} aria-hidden />}
                >
                  {texts.statuses[status]}
                </Button>
              </Menu.Target>
              <Menu.Dropdown>
                {statuses
                  .filter(each => each !== status)
                  .map(each => (
                    <Menu.Item key={each} onClick={() => void ask(each)}>
                      {texts.statusActions[each]}
                    </Menu.Item>
                  ))}
              </Menu.Dropdown>
            </Menu>
            <Button variant="default" aria-label={texts.editOperator(name)} onClick={edit}>
              {texts.edit}
            </Button>
            <Button variant="default" aria-label={`${texts.add}: ${name}`} onClick={add}>
              {texts.add}
            </Button>
          </Group>
        )}
      </Group>
      <DataTable
        label={name}
        empty={<Empty title={texts.noTariffs} />}
        columns={useColumns(operator)}
        query={query}
        rows={operator.tariffs}
        rowKey={({ code }) => code}
      />
    </section>
  )
}

function useColumns(operator: MobileOperator): Column<Tariff>[] {
  const { mobile: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const edit = (tariff: Tariff) =>
    modals.open({
      title: tariff.name,
      children: <TariffForm operator={operator} tariff={tariff} />,
    })
  const columns: Column<Tariff>[] = [
    {
      key: 'name',
      title: texts.tariff,
      cell: ({ name, code }) => (
        <Stack gap={0}>
          <Text fw={600}>{name}</Text>
          <Text size="sm" c="dimmed">
            {code}
          </Text>
        </Stack>
      ),
    },
    { key: 'content', title: texts.content, cell: tariff => <Content tariff={tariff} /> },
    { key: 'validity', title: texts.validity, cell: ({ validityDays }) => texts.days(validityDays) },
    {
      key: 'price',
      title: texts.price,
      align: 'right',
      cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
    },
    { key: 'onSale', title: texts.onSale, cell: tariff => <OnSale operator={operator} tariff={tariff} /> },
  ]
  if (!mayChange) return columns
  return [
    ...columns,
    {
      key: 'actions',
      title: texts.actions,
      align: 'right',
      cell: tariff => (
        <Button size="xs" variant="default" aria-label={`${texts.edit}: ${tariff.name}`} onClick={() => edit(tariff)}>
          {texts.edit}
        </Button>
      ),
    },
  ]
}

const uncapitalized = (text: string): string =>
  /^\p{Lu}\p{Ll}/u.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text

function Content({ tariff }: { tariff: Tariff }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { dataVolumeMb, dataUnlimited, voiceMinutes, voiceUnlimited, smsCount, smsUnlimited } = tariff
  const parts = [
    dataUnlimited ? texts.unlimitedData : dataVolumeMb > 0 && format.dataVolume(dataVolumeMb),
    voiceUnlimited ? texts.unlimitedVoice : voiceMinutes > 0 && texts.minutes(format.number(voiceMinutes)),
    smsUnlimited ? texts.unlimitedSms : smsCount > 0 && texts.sms(format.number(smsCount)),
  ]
  const words = parts.filter(part => part !== false)
  // Some of these texts begin with a capital letter, because they are also labels of fields. Here only the first text
  // keeps its capital letter.
  return words.map((word, index) => (index === 0 ? word : uncapitalized(word))).join(', ') || none
}

function OnSale({ operator, tariff }: { operator: MobileOperator; tariff: Tariff }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const confirm = useConfirm()
  const turn = useMutation({
    mutationFn: (onSale: boolean) => applyTariff(operator, { code: tariff.code, onSale } as { code: string }),
    onSuccess: (_, onSale) => notify.done((onSale ? texts.switchedOn : texts.switchedOff)(tariff.name)),
    onError: notify.failed,
    onSettled: changed,
    // Changes with the same scope are sent one after the other, so a second click waits for the answer to the first.
    scope: { id: `on-sale ${operator.code} ${tariff.code}` },
  })
  // `operator` has the newest data, but the table passes `tariff` a moment later. With the old `tariff` the switch
  // would jump back for this moment, and a click would send the wrong value.
  const { onSale } = operator.tariffs.find(({ code }) => code === tariff.code) ?? tariff
  if (!mayChange) return onSale ? texts.yes : texts.no
  const takeOff = async () => {
    const question = {
      title: texts.takeOffTitle(tariff.name),
      text: texts.takeOffText,
      action: texts.takeOff,
      isDangerous: true,
    }
    if (await confirm(question)) turn.mutate(false)
  }
  return (
    <Switch
      aria-label={`${texts.onSale}: ${tariff.name}`}
      // Never disabled, because a disabled button loses the keyboard focus.
      checked={turn.isPending ? turn.variables : onSale}
      onChange={({ currentTarget }) => (currentTarget.checked ? turn.mutate(true) : void takeOff())}
    />
  )
}
