import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { endSession } from '../api/session-end.ts'
import { heardOfKey, personOf, sessionQuery } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'

const maxTimerMs = 2 ** 31 - 1
/** How long to wait before the login page is loaded, so that the person's first page is loaded before it. */
const loginAfterMs = 3_000

/**
 * Detects three changes: the session has expired, it has ended in another tab, or another person has logged in in
 * another tab. It also loads the login page's code, because somebody may log out without a connection.
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
