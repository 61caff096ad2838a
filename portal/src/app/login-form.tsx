import { Alert, Button, Input, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useLocation, useRouter, useSearch } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { isApiError } from '../api/errors.ts'
import { useFormat, usePreferences, useTexts } from '../i18n/preferences.tsx'
import { placeAfterLogin } from '../routing/way-back.ts'
import {
  type AccountType,
  accountTypes,
  answerChallenge,
  type Challenge,
  type Credentials,
  type FactorMethod,
  logIn,
  type Session,
  sendLanguage,
} from '../session/session.ts'
import { sessionTexts } from '../session/texts.ts'
import { errorText } from '../ui/error-text.ts'
import { focusFirst } from '../ui/focus-first.ts'
import { useNotify } from '../ui/notify.tsx'
import { uiTexts } from '../ui/texts.ts'
import { appTexts } from './texts.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The person who has just set a password. The form is filled in with this login, which is not in the address. */
    joined?: { typeAccount: AccountType; login: string }
  }
}

const lastTypeKey = 'perkline.last-account-type'
const lastType = (): AccountType => accountTypes.find(type => type === localStorage.getItem(lastTypeKey)) ?? 'retailer'

/** The login, in one step, or in two if a second factor is set up. */
export function LoginForm() {
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  return challenge === null ? (
    <PasswordStep onChallenge={setChallenge} />
  ) : (
    <CodeStep challenge={challenge} onBack={() => setChallenge(null)} />
  )
}

/**
 * @returns a function to call after a login. It remembers the kind of account for the next login, sends the person's
 *   language to the platform, says how many attempts failed before, and opens the page that the person wanted
 */
function useAfterLogin(): (session: Session) => void {
  const router = useRouter()
  const { back } = useSearch({ from: '/login' })
  const { language } = usePreferences()
  const texts = useTexts(appTexts).login
  const format = useFormat()
  const notify = useNotify()
  return ({ typeAccount, failedLogins }) => {
    localStorage.setItem(lastTypeKey, typeAccount)
    sendLanguage(language)
    if (failedLogins && failedLogins.count > 0)
      notify.warned(texts.failedBefore(failedLogins.count, format.dateTime(failedLogins.since)))
    void router.navigate({ href: placeAfterLogin(typeAccount, back), replace: true })
  }
}

function PasswordStep({ onChallenge }: { onChallenge: (challenge: Challenge) => void }) {
  const texts = useTexts(appTexts).login
  const { showPassword } = useTexts(sessionTexts)
  const queryClient = useQueryClient()
  const { because } = useSearch({ from: '/login' })
  const { joined } = useLocation().state
  const enter = useAfterLogin()
  const typeLabel = useId()
  const form = useForm<Credentials>({
    initialValues: { typeAccount: joined?.typeAccount ?? lastType(), login: joined?.login ?? '', password: '' },
    validate: {
      login: value => (value.trim() === '' ? texts.fillIn : null),
      password: value => (value === '' ? texts.fillIn : null),
    },
  })
  const attempt = useMutation({
    // Browsers and phones often add a space when they fill in a login.
    mutationFn: (credentials: Credentials) => logIn(queryClient, { ...credentials, login: credentials.login.trim() }),
    onSuccess: result => ('challenge' in result ? onChallenge(result) : enter(result)),
    onError() {
      form.setFieldValue('password', '')
      form.getInputNode('password')?.focus()
    },
  })

  return (
    <form noValidate onSubmit={form.onSubmit(values => attempt.mutate(values), focusFirst)}>
      <Stack gap="md">
        {because && !attempt.error && (
          <Alert color={because === 'leftHereOnly' ? 'orange' : 'blue'}>{texts.because[because]}</Alert>
        )}
        {attempt.error && <LoginError error={attempt.error} wrong={texts.wrong} />}
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
          maxLength={1024}
          visibilityToggleButtonProps={{ 'aria-label': showPassword }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="md" mt="xs" loading={attempt.isPending}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  )
}

/** The second step: a code of the authenticator app, or a recovery code. */
function CodeStep({ challenge, onBack }: { challenge: Challenge; onBack: () => void }) {
  const texts = useTexts(appTexts).login
  const queryClient = useQueryClient()
  const enter = useAfterLogin()
  const [method, setMethod] = useState<FactorMethod>('totp')
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: value => (value.trim() === '' ? texts.fillIn : null) },
  })
  const attempt = useMutation({
    mutationFn: ({ code }: { code: string }) =>
      answerChallenge(queryClient, { challenge: challenge.challenge, method, code: code.trim() }),
    onSuccess: enter,
    onError() {
      form.setFieldValue('code', '')
      form.getInputNode('code')?.focus()
    },
  })
  const other = method === 'totp' ? 'recovery-code' : 'totp'
  return (
    <form noValidate onSubmit={form.onSubmit(values => attempt.mutate(values), focusFirst)}>
      <Stack gap="md">
        {attempt.error && <LoginError error={attempt.error} wrong={texts.wrongCode} />}
        <TextInput
          key={method}
          autoFocus
          label={method === 'totp' ? texts.code : texts.recoveryCode}
          description={method === 'totp' ? texts.codeHint : texts.recoveryCodeHint}
          size="md"
          autoComplete="one-time-code"
          inputMode={method === 'totp' ? 'numeric' : 'text'}
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
          {...form.getInputProps('code')}
        />
        <Button type="submit" size="md" mt="xs" loading={attempt.isPending}>
          {texts.submit}
        </Button>
        {challenge.methods.includes(other) && (
          <Button variant="subtle" onClick={() => setMethod(other)}>
            {other === 'totp' ? texts.useApp : texts.useRecoveryCode}
          </Button>
        )}
        <Button variant="subtle" color="gray" onClick={onBack}>
          {texts.otherLogin}
        </Button>
      </Stack>
    </form>
  )
}

/** @param wrong the text for a 401 */
function LoginError({ error, wrong }: { error: Error; wrong: string }) {
  const texts = useTexts(appTexts).login
  const ui = useTexts(uiTexts)
  const { language } = usePreferences()
  const format = useFormat()
  const text = isApiError(error, 401)
    ? wrong
    : isApiError(error, 429)
      ? texts.tooMany(format.number(error.retryAfterSeconds ?? 60))
      : errorText(error, ui, language).text
  return (
    <Alert color="red" icon={<IconAlertTriangle />} role="alert">
      {text}
    </Alert>
  )
}
