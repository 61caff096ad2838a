import { Alert, Anchor, Button, Input, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import { accountTexts } from '../account/texts.ts'
import { api } from '../api/client.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { type AccountType, accountTypes } from '../session/session.ts'
import { focusFirst } from '../ui/focus-first.ts'
import { Failure } from '../ui/states.tsx'
import { LoginFrame } from './login-page.tsx'
import { appTexts } from './texts.ts'

/** The page for people who have forgotten their password. Its texts (account/texts.ts) never reveal whether a login exists. */
export function ForgottenPage() {
  const texts = useTexts(accountTexts).forgotten
  const { typeAccount, typeAccounts: types, fillIn } = useTexts(appTexts).login
  const typeLabel = useId()
  const form = useForm({
    initialValues: { typeAccount: 'retailer' as AccountType, login: '' },
    validate: { login: value => (value.trim() === '' ? fillIn : null) },
  })
  const send = useMutation({
    mutationFn: (body: { typeAccount: AccountType; login: string }) => api.POST('/portal/password-resets', { body }),
  })
  return (
    <LoginFrame title={texts.title} lead={texts.lead}>
      {send.isSuccess ? (
        <Alert color="perk" role="status">
          {texts.done}
        </Alert>
      ) : (
        <form noValidate onSubmit={form.onSubmit(values => send.mutate(values), focusFirst)}>
          <Stack>
            {send.error && <Failure error={send.error} />}
            <Input.Wrapper size="md" label={typeAccount} labelElement="div" labelProps={{ id: typeLabel }}>
              <SegmentedControl
                fullWidth
                mt={4}
                aria-labelledby={typeLabel}
                data={accountTypes.map(value => ({ value, label: types[value] }))}
                {...form.getInputProps('typeAccount')}
              />
            </Input.Wrapper>
            <TextInput
              size="md"
              label={texts.login}
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={128}
              {...form.getInputProps('login')}
            />
            <Button type="submit" size="md" loading={send.isPending}>
              {texts.submit}
            </Button>
          </Stack>
        </form>
      )}
      <Anchor component={Link} to="/login" ta="center">
        {texts.toLogin}
      </Anchor>
    </LoginFrame>
  )
}
