import { useEffect, useState } from 'react'
import { useSession } from './use-session.ts'

/**
 * The platform's time, which decides when campaigns start and end. In sandbox mode it may be far from the browser's
 * time.
 *
 * @param everyMs how often the page updates it
 */
export function useNow(everyMs = 30_000): Date {
  const { aheadMs } = useSession()
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return new Date(now + aheadMs)
}
