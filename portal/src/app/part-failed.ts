import { useCallback } from 'react'
import { ApiError, noAnswer } from '../api/errors.ts'
import { useNotify } from '../ui/notify.tsx'
import { checkConnection } from './connection.ts'

/**
 * Returns a function that says why a part of the portal could not be loaded. With a connection, a new version has replaced its
 * file.
 */
export function usePartFailed(): (error: unknown) => Promise<void> {
  const notify = useNotify()
  return useCallback(
    async error => notify.failed((await checkConnection()) ? error : new ApiError(noAnswer, [], null)),
    [notify],
  )
}
