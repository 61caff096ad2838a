import { Alert, Button, Card, Group, NativeSelect, SimpleGrid, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure } from '../../ui/states.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { Count } from '../../ui/values.tsx'
import { customersQuery, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** The directory of customers: how many each bank has, a search for one customer's bank, and the import of more. */
export function CustomersPage() {
  const { customers: texts } = useTexts(operatorTexts)
  const query = useQuery(customersQuery)
  const mayChange = useMayChange()
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Find />
          {mayChange && <Import banks={query.data?.banks ?? []} />}
        </SimpleGrid>
        <DataTable
          label={texts.title}
          query={query}
          rows={query.data?.banks}
          rowKey={({ id }) => id}
          columns={[
            { key: 'bank', title: texts.bank, cell: ({ name }) => <b>{name}</b> },
            {
              key: 'customers',
              title: texts.count,
              align: 'right',
              cell: ({ customers }) => <Count value={customers} />,
            },
          ]}
        />
      </Stack>
    </>
  )
}

function Find() {
  const { customers: texts } = useTexts(operatorTexts)
  const [customerId, setCustomerId] = useState('')
  const find = useMutation({
    mutationFn: () => answer(api.POST('/admin/customers/find', { body: { customerId: customerId.trim() } })),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (customerId.trim() !== '') find.mutate()
  }
  const isUnknown = isApiError(find.error, 404)
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.find}
      </Title>
      <form onSubmit={submit}>
        <Group align="flex-end">
          <TextInput
            label={texts.findHint}
            value={customerId}
            flex={1}
            maxLength={128}
            onChange={({ currentTarget }) => {
              setCustomerId(currentTarget.value)
              find.reset()
            }}
          />
          <Button type="submit" variant="default" loading={find.isPending}>
            {texts.look}
          </Button>
        </Group>
      </form>
      <div role="status">
        {find.data && <Alert mt="md" title={texts.belongs(find.data.bank.name)} />}
        {isUnknown && <Alert mt="md" color="gray" title={texts.unknown} />}
      </div>
      {find.error && !isUnknown && <Failure error={find.error} />}
    </Card>
  )
}

const maxBytes = 1024 * 1024 * 1024
const guide = (customerId: string) => ({
  columns: { customerId },
  template: { fileName: 'customers.csv', rows: [['C-000001'], ['C-000002']] },
})

function Import({ banks }: { banks: readonly { code: string; name: string }[] }) {
  const { customers: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [bank, setBank] = useState('')
  const upload = useUpload<{ imported: number; duplicates: number }>(
    `/admin/customers?bank=${encodeURIComponent(bank)}`,
    {
      asForm: false,
      onCancel: () => void changed(),
      onDone({ imported, duplicates }) {
        notify.done(texts.imported(format.number(imported), format.number(duplicates)))
        void changed()
      },
    },
  )
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.import}
      </Title>
      <Stack gap="sm">
        <NativeSelect
          label={texts.importFor}
          data={[
            { value: '', label: texts.chooseBank },
            ...banks.map(({ code, name }) => ({ value: code, label: name })),
          ]}
          value={bank}
          onChange={({ currentTarget }) => setBank(currentTarget.value)}
        />
        <FileUpload
          upload={upload}
          hint={texts.importHint}
          maxBytes={maxBytes}
          guide={guide(texts.column)}
          isDisabled={bank === ''}
          whyDisabled={texts.bankFirst}
        />
      </Stack>
    </Card>
  )
}
