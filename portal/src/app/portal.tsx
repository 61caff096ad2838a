import { MantineProvider } from '@mantine/core'
import { ModalsProvider, modals } from '@mantine/modals'
import { Notifications, notifications } from '@mantine/notifications'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { ApiError } from '../api/errors.ts'
import { onFactorNeeded, onSessionEnd } from '../api/session-end.ts'
import { PreferencesProvider, useTexts } from '../i18n/preferences.tsx'
import { wayBack } from '../routing/way-back.ts'
import { isInputKept } from '../session/draft.ts'
import { forgetSession, wasLeftElsewhere } from '../session/session.ts'
import { keepFocus, keepFocusAtRead, watchFocus } from '../ui/keep-focus.ts'
import { uiTexts } from '../ui/texts.ts'
import { closeTopDialog, TopDialog, useIsTopDialogOpen } from '../ui/top-dialog.tsx'
import { isLost, learnFrom, watchConnection } from './connection.ts'
import { createPortalRouter } from './router.ts'
import { styleNonce } from './style-nonce.ts'
import { colourSchemeManager, cssVariables, theme } from './theme.ts'

const outcome = { onSuccess: () => learnFrom(), onError: (error: unknown) => learnFrom(error) }
const mutationCache = new MutationCache({
  ...outcome,
  onMutate: (_, mutation) => keepFocus(() => mutation.state.status === 'pending'),
})

// Requests never wait for the connection (`networkMode: 'always'`): without a connection they fail at once, and are
// never sent later.
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    ...outcome,
    onSuccess() {
      learnFrom()
      keepFocusAtRead()
    },
  }),
  mutationCache,
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      networkMode: 'always',
      refetchOnReconnect: false,
      // Network errors and errors of the server (5xx) are retried twice. Other errors are not retried, because the
      // platform would refuse the request again.
      retry: (failures, error) =>
        failures < 2 && !isLost() && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
      throwOnError: false,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
watchConnection(queryClient)
watchFocus()
export const router = createPortalRouter(queryClient)

// When the session has ended, goes to the login page. After the login, the person returns to the same page.
onSessionEnd(() => {
  const { href } = router.state.location
  const because = wasLeftElsewhere() ? 'leftElsewhere' : isInputKept() ? 'endedWithInput' : 'ended'
  if (!forgetSession(queryClient)) return
  // Close dialogs that show a secret, and notices, too: the next user of the browser must not see them.
  modals.closeAll()
  closeTopDialog()
  notifications.clean()
  void router.navigate({ to: '/login', search: { back: wayBack(href), because }, replace: true })
})

// If the account requires a second factor, opens the page that sets it up. Until then, all other reads are refused.
onFactorNeeded(() => void router.navigate({ to: '/account/profile', replace: true }))

function Pages() {
  const { close } = useTexts(uiTexts)
  const closeOnEscape = !useIsTopDialogOpen()
  return (
    <ModalsProvider
      modalProps={{ closeButtonProps: { 'aria-label': close }, closeOnClickOutside: false, closeOnEscape }}
    >
      <RouterProvider router={router} />
      <TopDialog />
    </ModalsProvider>
  )
}

/** The whole portal: everything that pages rely on, around the current page. */
export function Portal() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colourSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <PreferencesProvider>
        <QueryClientProvider client={queryClient}>
          <Notifications position="bottom-right" limit={4} />
          <Pages />
        </QueryClientProvider>
      </PreferencesProvider>
    </MantineProvider>
  )
}
