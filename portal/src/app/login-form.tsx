import { Alert, Button, Input, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useId } from 'react'
import { isApiError } from '../api/errors.ts'
import { useFormat, usePreferences, useTexts } from '../i18n/preferences.tsx'
import { placeAfterLogin } from '../routing/way-back.ts'
import { type AccountType, accountTypes, type Credentials, logIn } from '../session/session.ts'
import { errorText } from '../ui/error-text.ts'
import { uiTexts } from '../ui/texts.ts'
import { appTexts } from './texts.ts'

const lastTypeKey = 'perkline.last-account-type'
const lastType = (): AccountType => accountTypes.find(type => type === localStorage.getItem(lastTypeKey)) ?? 'retailer'

export function LoginForm() {
  const texts = useTexts(appTexts).login
  const router = useRouter()
  const queryClient = useQueryClient()
  const { back, because } = useSearch({ from: '/login' })
  const typeLabel = useId()
  const form = useForm<Credentials>({
    initialValues: { typeAccount: lastType(), login: '', password: '' },
    validate: {
      login: value => (value.trim() === '' ? texts.fillIn : null),
      password: value => (value === '' ? texts.fillIn : null),
    },
  })
  const attempt = useMutation({
    mutationFn: (credentials: Credentials) => logIn(queryClient, credentials),
    onSuccess({ typeAccount }) {
      localStorage.setItem(lastTypeKey, typeAccount)
      void router.navigate({ href: placeAfterLogin(typeAccount, back), replace: true })
    },
    onError() {
      form.setFieldValue('password', '')
      form.getInputNode('password')?.focus()
    },
  })

  return (
    <form noValidate onSubmit={form.onSubmit(values => attempt.mutate(values), focusFirst)}>
      <Stack gap="md">
        {because && !attempt.error && <Alert color="blue">{because === 'ended' ? texts.ended : texts.loggedOut}</Alert>}
        {attempt.error && <LoginFault error={attempt.error} />}
        <Input.Wrapper size="md" label={texts.typeAccount} labelElement="div" labelProps={{ id: typeLabel }}>
          <SegmentedControl
            fullWidth
            mt={4}
            aria-labelledby={typeLabel}
            data={accountTypes.map(value => ({ value, label: texts.typeAccounts[value] }))}
            {...form.getInputProps('typeAccount')}
          />
        </Input.Wrapper>
        <TextInput
          label={texts.login}
          size="md"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={128}
          {...form.getInputProps('login')}
        />
        <PasswordInput
          label={texts.password}
          size="md"
          autoComplete="current-password"
          maxLength={256}
          visibilityToggleButtonProps={{ 'aria-label': texts.showPassword }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="md" mt="xs" loading={attempt.isPending}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  )
}

function focusFirst(errors: object, _values: unknown, event: React.SyntheticEvent<HTMLFormElement> | undefined): void {
  const [first] = Object.keys(errors)
  event?.currentTarget.querySelector<HTMLElement>(`[data-path="${first}"]`)?.focus()
}

function LoginFault({ error }: { error: Error }) {
  const texts = useTexts(appTexts).login
  const ui = useTexts(uiTexts)
  const { language } = usePreferences()
  const format = useFormat()
  const text = isApiError(error, 401)
    ? texts.wrong
    : isApiError(error, 429)
      ? texts.tooMany(format.number(error.retryAfterSeconds ?? 60))
      : errorText(error, ui, language).text
  return (
    <Alert color="red" icon={<IconAlertTriangle />} role="alert">
      {text}
    </Alert>
  )
}
