/**
 * Some changes need a second factor that was proven a short time ago. If the platform answers 401 `mfa-needed`, we ask
 * for the factor and repeat the change.
 */

import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import { answer, api } from '../api/client.ts'
import { CancelledError, isApiError } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { Failure } from '../ui/states.tsx'
import { uiTexts } from '../ui/texts.ts'
import { closeTopDialog, openTopDialog } from '../ui/top-dialog.tsx'
import { useOnce } from '../ui/use-once.ts'
import { factorsQuery } from './factors-query.ts'
import { freshFactorTexts } from './fresh-factor-texts.ts'
import { sessionTexts } from './texts.ts'

const isNeeded = (error: unknown): boolean => isApiError(error, 401) && error.code === 'mfa-needed'

/**
 * Makes a change. If it needs a second factor that was proven a short time ago, asks for this factor first.
 *
 *     const fresh = useFreshFactor()
 *     useMutation({ mutationFn: () => fresh(() => answer(api.POST('/portal/invitations', { body }))) })
 *
 * The function throws `CancelledError` when the person closes the dialog without a factor. Forms and notices show nothing
 * for it.
 */
export function useFreshFactor(): <Result>(change: () => Promise<Result>) => Promise<Result> {
  const queryClient = useQueryClient()
  const texts = useTexts(freshFactorTexts)
  return useCallback(
    async change => {
      try {
        return await change()
      } catch (error) {
        if (!isNeeded(error)) throw error
        const factors = await queryClient.fetchQuery({ ...factorsQuery, staleTime: 0 })
        if (!(await ask(texts.title, factors.totp !== null))) throw new CancelledError()
        return change()
      }
    },
    [queryClient, texts],
  )
}

/** @returns whether a factor was proven; false when the person has closed the dialog */
const ask = (title: string, hasApp: boolean): Promise<boolean> =>
  new Promise(resolve => {
    let isShown = false
    openTopDialog({
      title,
      onClose: () => resolve(isShown),
      children: (
        <FactorForm
          hasApp={hasApp}
          onShown={() => {
            isShown = true
            closeTopDialog()
          }}
        />
      ),
    })
  })

function FactorForm({ hasApp, onShown }: { hasApp: boolean; onShown: () => void }) {
  const texts = useTexts(freshFactorTexts)
  const { showPassword } = useTexts(sessionTexts)
  const { cancel } = useTexts(uiTexts)
  const [code, setCode] = useState('')
  const show = useMutation({
    mutationFn: () => {
      const trimmed = code.trim()
      const method = !hasApp ? 'password' : /^(\s*\d){6}$/.test(trimmed) ? 'totp' : 'recovery-code'
      const body = { method, code: hasApp ? trimmed : code } as const
      return answer(api.POST('/portal/session/verify', { body }))
    },
    onSuccess: onShown,
    onError: () => setCode(''),
  })
  const showOnce = useOnce(show)
  const field = {
    value: code,
    onChange: (event: { currentTarget: { value: string } }) => setCode(event.currentTarget.value),
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        if (code !== '') showOnce()
      }}
    >
      <Stack>
        <Text>{texts.reason}</Text>
        {isApiError(show.error, 401) ? (
          <Alert color="red" role="alert">
            {texts.wrong}
          </Alert>
        ) : (
          show.error && <Failure error={show.error} />
        )}
        {hasApp ? (
          <TextInput
            data-autofocus
            label={texts.code}
            description={texts.codeHint}
            autoComplete="one-time-code"
            maxLength={64}
            {...field}
          />
        ) : (
          <PasswordInput
            data-autofocus
            label={texts.password}
            autoComplete="current-password"
            maxLength={1024}
            visibilityToggleButtonProps={{ 'aria-label': showPassword }}
            {...field}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={closeTopDialog}>
            {cancel}
          </Button>
          <Button type="submit" loading={show.isPending}>
            {texts.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
