import { Anchor, Button, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { dictionary } from '../i18n/texts.ts'
import { type ProfileSearch, profileSearchOf } from './profile-search.ts'
import { Failure } from './states.tsx'

const finderTexts = dictionary({
  en: {
    open: 'Find by number or ICCID',
    hint: 'Enter the whole phone number or ICCID. It stays out of the address bar and the logs.',
    label: 'Phone number or ICCID',
    wrong: 'Enter a phone number in international format, or an ICCID of 18 to 20 digits',
    find: 'Find',
    cancel: 'Cancel',
    none: 'No reserved or sold eSIM has this number or ICCID',
    found: 'Orders with this number',
  },
  uk: {
    open: 'Пошук за номером або ICCID',
    hint: 'Введіть повний номер телефону або ICCID. Він не потрапляє ні в адресний рядок, ні в журнали.',
    label: 'Номер телефону або ICCID',
    wrong: 'Введіть номер телефону в міжнародному форматі або ICCID із 18–20 цифр',
    find: 'Знайти',
    cancel: 'Скасувати',
    none: 'Жодна зарезервована чи продана eSIM не має такого номера або ICCID',
    found: 'Замовлення з цим номером',
  },
})

type Found = { orderId: string; externalId: string }

type FinderProps = {
  /** Searches for the orders that hold the profile with this phone number or ICCID now. */
  search: (input: ProfileSearch) => Promise<readonly Found[]>
  onOpen: (orderId: string) => void
}

/** A button that opens the search for an order by phone number or ICCID. The input is not stored anywhere. */
export function OrderFinder(props: FinderProps) {
  const texts = useTexts(finderTexts)
  return (
    <Button variant="default" onClick={() => modals.open({ title: texts.open, children: <Finder {...props} /> })}>
      {texts.open}
    </Button>
  )
}

function Finder({ search, onOpen }: FinderProps) {
  const texts = useTexts(finderTexts)
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const open = (orderId: string) => {
    modals.closeAll()
    onOpen(orderId)
  }
  const find = useMutation({
    mutationFn: search,
    // Removes the search from memory when the dialog closes, because it contains the phone number or the ICCID.
    gcTime: 0,
    onSuccess([first, ...others]) {
      if (first && others.length === 0) open(first.orderId)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const input = profileSearchOf(typed)
    setWrong(input === null)
    if (input) find.mutate(input)
    else field.current?.focus()
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <TextInput
          ref={field}
          label={texts.label}
          description={texts.hint}
          value={typed}
          onChange={({ currentTarget }) => {
            setTyped(currentTarget.value)
            setWrong(false)
            find.reset()
          }}
          error={isWrong && texts.wrong}
          errorProps={{ role: 'alert' }}
          maxLength={40}
          autoComplete="off"
          data-autofocus
        />
        <div role="status">
          {find.data?.length === 0 && <Text>{texts.none}</Text>}
          {find.data && find.data.length > 1 && (
            <>
              <Text mb="xs">{texts.found}</Text>
              <List>
                {find.data.map(({ orderId, externalId }) => (
                  <List.Item key={orderId}>
                    <Anchor component="button" type="button" onClick={() => open(orderId)}>
                      {externalId}
                    </Anchor>
                  </List.Item>
                ))}
              </List>
            </>
          )}
        </div>
        {find.error && <Failure error={find.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => modals.closeAll()}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={find.isPending}>
            {texts.find}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
