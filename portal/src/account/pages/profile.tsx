import {
  Badge,
  Button,
  Card,
  Code,
  CopyButton,
  Group,
  Image,
  Input,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { answer, api } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { factorsQuery } from '../../session/factors-query.ts'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { sessionTexts } from '../../session/texts.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { uiTexts } from '../../ui/texts.ts'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { useOnce } from '../../ui/use-once.ts'
import { DateTime } from '../../ui/values.tsx'
import { programOf } from '../program.ts'
import { type OwnSession, sessionsQuery, useAccountChanged } from '../queries.ts'
import { accountTexts } from '../texts.ts'

/** What a person can set for themselves: second factor, password, sessions. */
export function ProfilePage() {
  const texts = useTexts(accountTexts).profile
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <Stack gap="lg">
        <Factor />
        <Password />
        <Sessions />
      </Stack>
    </>
  )
}

function Factor() {
  const texts = useTexts(accountTexts).profile
  const query = useQuery(factorsQuery)
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const confirm = useConfirm()
  // Reads the factors again, because another tab or a manager may have changed them.
  const failed = (error: unknown) => {
    void changed()
    if (isApiError(error, 409)) notify.refused(texts.factorConflict)
    else notify.failed(error)
  }
  const begin = useMutation({
    mutationFn: () => fresh(() => answer(api.POST('/portal/mfa/totp'))),
    onError: failed,
  })
  const beginOnce = useOnce(begin)
  const showCodes = ({ recoveryCodes }: { recoveryCodes: string[] }) => {
    begin.reset()
    void changed()
    showOnce(texts.codesTitle, texts.codesText, [{ label: texts.codes, value: recoveryCodes.join('\n') }])
  }
  const renew = useMutation({
    mutationFn: () => fresh(() => answer(api.POST('/portal/mfa/recovery-codes'))),
    onSuccess: showCodes,
    onError: failed,
  })
  const remove = useMutation({
    mutationFn: () => fresh(() => api.DELETE('/portal/mfa/totp')),
    onSuccess() {
      notify.done(texts.removed)
      return changed()
    },
    onError: failed,
  })
  const askToRenew = async () => {
    const question = { title: texts.renewTitle, text: texts.renewText, action: texts.renew }
    if (await confirm(question)) renew.mutate()
  }
  const askToRemove = async () => {
    if (await confirm({ title: texts.removeTitle, text: texts.removeText, action: texts.remove, isDangerous: true }))
      remove.mutate()
  }
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  if (!query.data) return <Loading lines={3} />
  const { totp, recoveryCodes } = query.data
  return (
    <Card>
      <Stack>
        <Group gap="sm">
          <Title order={2}>{texts.factor}</Title>
          <Badge color={totp ? 'perk' : 'gray'}>{totp ? texts.on : texts.off}</Badge>
        </Group>
        {totp ? (
          <>
            <Text>
              {texts.since} <DateTime at={totp.confirmedAt} withTime={false} />
              <br />
              {texts.left(recoveryCodes.left)}
            </Text>
            <Group>
              <Button variant="default" loading={renew.isPending} onClick={() => void askToRenew()}>
                {texts.renew}
              </Button>
              <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => void askToRemove()}>
                {texts.remove}
              </Button>
            </Group>
          </>
        ) : begin.data ? (
          <SetUp {...begin.data} onDone={showCodes} />
        ) : (
          <>
            <Text c="dimmed">{texts.factorText}</Text>
            <Group>
              <Button loading={begin.isPending} onClick={beginOnce}>
                {texts.setUp}
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Card>
  )
}

type Begun = { secret: string; qr: string; uri: string }

function SetUp({ secret, qr, uri, onDone }: Begun & { onDone: (codes: { recoveryCodes: string[] }) => void }) {
  const texts = useTexts(accountTexts).profile
  const fresh = useFreshFactor()
  const form = useForm({ initialValues: { code: '' } })
  const { place, clear, rest } = useFieldErrors(form, ['code'])
  // The button that was pressed is gone, so the focus goes to the beginning of what replaces it.
  const start = useRef<HTMLParagraphElement>(null)
  useEffect(() => start.current?.focus({ preventScroll: true }), [])
  const confirm = useMutation({
    mutationFn: ({ code }: { code: string }) =>
      fresh(() => answer(api.POST('/portal/mfa/totp/confirm', { body: { code: code.trim() } }))),
    onSuccess: onDone,
    onMutate: clear,
    onError: place,
  })
  return (
    <form noValidate onSubmit={form.onSubmit(values => confirm.mutate(values))}>
      <Stack maw={460}>
        <Text ref={start} tabIndex={-1}>
          {texts.scan}
        </Text>
        <Image src={qr} alt={texts.qr} w={220} h={220} />
        {/* A phone cannot scan its own screen. Its app can open this address. */}
        <Button component="a" href={uri} variant="default" hiddenFrom="md">
          {texts.openApp}
        </Button>
        <SecretKey secret={secret} />
        {rest !== null && <Failure error={rest} />}
        <TextInput
          label={texts.code}
          description={texts.codeHint}
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={64}
          {...form.getInputProps('code')}
        />
        <Group>
          <Button type="submit" loading={confirm.isPending}>
            {texts.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The key in groups of four characters. Groups are easy to compare and to type, and they wrap on a phone. */
function SecretKey({ secret }: Pick<Begun, 'secret'>) {
  const texts = useTexts(accountTexts).profile
  const { copy: copyText, copied: copiedText } = useTexts(uiTexts)
  return (
    <Input.Wrapper label={texts.secret} labelElement="div" description={texts.secretHint}>
      <Group mt={4} gap="sm">
        <Code fz="md">{secret.match(/.{1,4}/g)?.join(' ')}</Code>
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" size="xs" onClick={copy}>
              {copied ? copiedText : copyText}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Input.Wrapper>
  )
}

function Password() {
  const texts = useTexts(accountTexts).profile
  const { showPassword } = useTexts(sessionTexts)
  const notify = useNotify()
  const changed = useAccountChanged()
  const form = useForm({ initialValues: { current: '', password: '' } })
  const { place, clear, rest } = useFieldErrors(form, ['current', 'password'])
  const change = useMutation({
    mutationFn: (body: { current: string; password: string }) => api.POST('/portal/password', { body }),
    onSuccess() {
      form.reset()
      void changed()
      notify.done(texts.passwordChanged)
    },
    onMutate: clear,
    onError: place,
  })
  const shown = { visibilityToggleButtonProps: { 'aria-label': showPassword }, maxLength: 1024 }
  return (
    <Card>
      <form noValidate onSubmit={form.onSubmit(values => change.mutate(values))}>
        <Stack maw={460}>
          <Title order={2}>{texts.password}</Title>
          {rest !== null && <Failure error={rest} />}
          <PasswordInput
            label={texts.current}
            autoComplete="current-password"
            {...shown}
            {...form.getInputProps('current')}
          />
          <PasswordInput
            label={texts.newPassword}
            description={texts.passwordHint}
            autoComplete="new-password"
            {...shown}
            {...form.getInputProps('password')}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              {texts.changePassword}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

function Sessions() {
  const texts = useTexts(accountTexts).profile
  const query = useQuery(sessionsQuery)
  const changed = useAccountChanged()
  const notify = useNotify()
  const endOthers = useMutation({
    mutationFn: () => api.DELETE('/portal/sessions'),
    onSuccess() {
      notify.done(texts.othersEnded)
      return changed()
    },
    onError: notify.failed,
  })
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  if (!query.data) return <Loading lines={3} />
  return (
    <Card>
      <Stack>
        <Title order={2}>{texts.sessions}</Title>
        <Stack component="ul" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
          {query.data.map(session => (
            <SessionLine key={session.sessionId} session={session} />
          ))}
        </Stack>
        {query.data.length > 1 && (
          <Group>
            <Button variant="default" loading={endOthers.isPending} onClick={() => endOthers.mutate()}>
              {texts.endOthers}
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  )
}

/**
 * Shows the browser and the system, such as `Chrome on Windows`. A program that is not a known browser is shown by its
 * user agent.
 */
function Program({ userAgent }: { userAgent: string }) {
  const texts = useTexts(accountTexts).profile
  const { browser, system } = programOf(userAgent)
  if (browser === null) return userAgent || texts.unknownProgram
  return <span title={userAgent}>{system === null ? browser : texts.program(browser, system)}</span>
}

function SessionLine({ session }: { session: OwnSession }) {
  const texts = useTexts(accountTexts).profile
  const changed = useAccountChanged()
  const notify = useNotify()
  const { sessionId } = session
  const format = useFormat()
  const { browser, system } = programOf(session.userAgent)
  const program = browser === null || system === null ? browser : texts.program(browser, system)
  // Somebody may have several sessions of one program, so the name of the button also says when each was last active.
  const name = `${program ?? (session.userAgent || texts.unknownProgram)}, ${texts.seen} ${format.dateTime(session.lastSeenAt)}`
  const end = useMutation({
    mutationFn: () => api.DELETE('/portal/sessions/{sessionId}', { params: { path: { sessionId } } }),
    onSuccess() {
      notify.done(texts.ended)
      return changed()
    },
    onError: notify.failed,
  })
  return (
    <Group component="li" justify="space-between" align="flex-start" wrap="nowrap">
      <div style={{ minWidth: 0 }}>
        <Text fw={600} truncate>
          <Program userAgent={session.userAgent} />
        </Text>
        <Text size="sm" c="dimmed">
          {session.address} · {texts.methods[session.method]} · {texts.seen} <DateTime at={session.lastSeenAt} />
        </Text>
      </div>
      {session.current ? (
        <Badge style={{ flexShrink: 0 }}>{texts.thisOne}</Badge>
      ) : (
        <Button
          variant="subtle"
          size="compact-md"
          style={{ flexShrink: 0 }}
          aria-label={`${texts.end}: ${name}`}
          loading={end.isPending}
          onClick={() => end.mutate()}
        >
          {texts.end}
        </Button>
      )}
    </Group>
  )
}
