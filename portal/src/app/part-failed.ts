import { useCallback } from 'react'
import { ApiError, noAnswer } from '../api/errors.ts'
import { useNotify } from '../ui/notify.tsx'
import { checkConnection } from './connection.ts'

/**
 * Returns a function that tells the person why a part of the portal could not be loaded. If there is a connection, the cause is
 * a new version that has replaced the part's file.
 */
export function usePartFailed(): (error: unknown) => Promise<void> {
  const notify = useNotify()
  return useCallback(
    async error => notify.failed((await checkConnection()) ? error : new ApiError(noAnswer, [], null)),
    [notify],
  )
}
