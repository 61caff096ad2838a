import { useEffect, useState } from 'react'
import { useSession } from './use-session.ts'

/**
 * The platform's time, by which campaigns start and end; in sandbox mode it may be far from this browser's.
 *
 * @param everyMs how often the page is to look again
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
