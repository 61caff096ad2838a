import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { accountTexts } from '../account/texts.ts'
import { answer, api } from '../api/client.ts'
import { isApiError, mayBeDone } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import type { AccountType } from '../session/session.ts'
import { sessionTexts } from '../session/texts.ts'
import { Failure } from '../ui/states.tsx'
import { useFieldErrors } from '../ui/use-field-errors.ts'
import { LoginFrame } from './login-page.tsx'

/** The page of links in invitations and password mails. The token is in the fragment, which browsers never send. */
export function JoinPage() {
  const texts = useTexts(accountTexts).join
  const navigate = useNavigate()
  const [token] = useState(() => location.hash.slice(1))
  const [joined, setJoined] = useState<Joined | null>(null)
  return (
    <LoginFrame
      key={joined ? 'joined' : 'form'}
      title={joined ? texts.doneTitle : texts.title}
      lead={joined ? texts.doneLead : texts.lead}
    >
      {joined !== null ? (
        <Stack>
          <Alert color="perk" role="status">
            {texts.done(joined.login)}
          </Alert>
          {/* The login leads to the profile, so that the person sets up a second factor at once. */}
          <Button
            ref={focused}
            size="md"
            onClick={() => void navigate({ to: '/login', search: { back: '/account/profile' }, state: { joined } })}
          >
            {texts.logIn}
          </Button>
        </Stack>
      ) : token === '' ? (
        <Alert color="red">{texts.noLink}</Alert>
      ) : (
        <JoinForm token={token} onJoined={setJoined} />
      )}
    </LoginFrame>
  )
}

type Joined = { typeAccount: AccountType; login: string }

function JoinForm({ token, onJoined }: { token: string; onJoined: (joined: Joined) => void }) {
  const texts = useTexts(accountTexts).join
  const { showPassword } = useTexts(sessionTexts)
  const form = useForm({ initialValues: { password: '', login: '' } })
  const { place, clear, rest } = useFieldErrors(form, ['password', 'login'])
  const [wasLost, setLost] = useState(false)
  const join = useMutation({
    mutationFn: ({ password, login }: { password: string; login: string }) => {
      const body = { token, password, ...(login.trim() !== '' && { login: login.trim() }) }
      return answer(api.POST('/portal/invitations/accept', { body }))
    },
    onSuccess: onJoined,
    onMutate: clear,
    onError(error) {
      if (mayBeDone(error)) setLost(true)
      place(error)
    },
  })
  const isTaken = isApiError(join.error, 409) || form.values.login !== ''
  return (
    <form noValidate onSubmit={form.onSubmit(values => join.mutate(values))}>
      <Stack>
        {isApiError(rest, 400) ? (
          <>
            {/* The link may be used up because an earlier request of this form succeeded but its answer was lost. Then
                the person can log in. */}
            {wasLost ? <Alert color="orange">{texts.mayBeSaved}</Alert> : <Alert color="red">{texts.badLink}</Alert>}
            <Anchor component={Link} to="/login">
              {texts.toLogin}
            </Anchor>
          </>
        ) : (
          rest !== null && <Failure error={rest} />
        )}
        {isTaken && (
          <TextInput
            size="md"
            label={texts.login}
            description={texts.loginHint}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={128}
            {...form.getInputProps('login')}
          />
        )}
        <PasswordInput
          size="md"
          label={texts.password}
          autoComplete="new-password"
          maxLength={1024}
          visibilityToggleButtonProps={{ 'aria-label': showPassword }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="md" loading={join.isPending}>
          {texts.submit}
        </Button>
      </Stack>
    </form>
  )
}

/** Focuses the button, because the form that had the focus has been removed. */
const focused = (button: HTMLButtonElement | null): void => button?.focus()
