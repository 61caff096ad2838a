import { useSuspenseQuery } from '@tanstack/react-query'
import { mayChange } from './rights.ts'
import { type Session, sessionQuery } from './session.ts'

/** Who is logged in, on pages that only people who are logged in get to see. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery)
  if (!data) throw new Error('Nobody is logged in here')
  return data
}

export const useMayChange = (): boolean => mayChange(useSession())
