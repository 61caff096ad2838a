import { Button, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { endSession } from '../api/session-end.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { heardOfKey, personOf, sessionQuery } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'
import { part } from '../ui/not-loaded.ts'
import { useNotify } from '../ui/notify.tsx'
import { openTopDialog } from '../ui/top-dialog.tsx'
import { usePartFailed } from './part-failed.ts'
import { appTexts } from './texts.ts'

const maxTimerMs = 2 ** 31 - 1
/** How long before the end of the session the person is warned. The shortest session takes 15 minutes. */
const warningMs = 5 * 60_000
/** How long to wait before the login page is loaded, so that the person's first page is loaded before it. */
const loginAfterMs = 3_000

/**
 * Detects three changes: the session has expired, it has ended in another tab, or another person has logged in in
 * another tab. It warns before the session ends. It also loads the login page's code, because somebody may log out
 * without a connection.
 */
export function SessionWatch() {
  const session = useSession()
  const queryClient = useQueryClient()
  // Reads the session again whenever the person returns to the page; a 401 ends it.
  useQuery(sessionQuery)
  const router = useRouter()
  useEffect(() => {
    const load = () => void router.loadRouteChunk(router.routesById['/login'])?.catch(() => {})
    const timer = setTimeout(load, loginAfterMs)
    return () => clearTimeout(timer)
  }, [router])
  const person = personOf(session)
  useEffect(() => {
    const left = Date.parse(session.expiresAt) - Date.now()
    // The browser's clock may be wrong, so we read the session again: the platform decides whether it has expired.
    const ask = () => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    const timer = setTimeout(ask, Math.min(Math.max(left, 0) + 1000, maxTimerMs))
    return () => clearTimeout(timer)
  }, [session.expiresAt, queryClient])
  useWarning(session.expiresAt)

  useEffect(() => {
    const check = (now: string | null) => {
      if (now === person) return
      if (now === null) endSession()
      else location.reload()
    }
    const follow = ({ key, newValue }: StorageEvent) => key === heardOfKey && check(newValue)
    // When the person goes back, the browser may show a page that it kept in memory. A page in memory gets no `storage`
    // events.
    const wake = ({ persisted }: PageTransitionEvent) => persisted && check(localStorage.getItem(heardOfKey))
    addEventListener('storage', follow)
    addEventListener('pageshow', wake)
    return () => {
      removeEventListener('storage', follow)
      removeEventListener('pageshow', wake)
    }
  }, [person])
  return null
}

const noticeId = 'session-ends'

/** Five minutes before the session ends, shows a notice with a way to log in again. */
function useWarning(expiresAt: string): void {
  const notify = useNotify()
  const warn = useEffectEvent(() => {
    if (Date.parse(expiresAt) > Date.now())
      notify.warnedAs(noticeId, <WarningTitle expiresAt={expiresAt} />, <Warning />)
  })
  // Once for each end of a session. A notice that was closed does not come back when the language changes.
  useEffect(() => {
    const timer = setTimeout(warn, Math.max(Date.parse(expiresAt) - warningMs - Date.now(), 0))
    return () => {
      clearTimeout(timer)
      notifications.hide(noticeId)
    }
  }, [expiresAt])
}

function WarningTitle({ expiresAt }: { expiresAt: string }) {
  const { sessionEnds: texts } = useTexts(appTexts)
  return texts.title(useFormat().time(expiresAt))
}

function Warning() {
  const { sessionEnds: texts } = useTexts(appTexts)
  const partFailed = usePartFailed()
  // Nobody knows what is open in other tabs, so we always ask. The question is above an open dialog, which keeps its
  // input.
  const ask = () =>
    part(import('./log-in-again.tsx')).then(
      ({ LogInAgain }) =>
        openTopDialog({ title: texts.again, onClose: () => {}, children: <LogInAgain action={texts.again} /> }),
      partFailed,
    )
  return (
    <Stack gap="xs" align="flex-start">
      {texts.text}
      <Button size="xs" variant="default" onClick={ask}>
        {texts.again}
      </Button>
    </Stack>
  )
}
