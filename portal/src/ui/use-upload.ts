import { useCallback, useEffect, useRef, useState } from 'react'
import { upload as sendFile } from '../api/upload.ts'

type State = { fileName: string | null; share: number; isSending: boolean; error: unknown; wasCancelled: boolean }
const idle: State = { fileName: null, share: 0, isSending: false, error: null, wasCancelled: false }

export type Upload<Data> = State & {
  send(file: File, fields?: Record<string, string>): Promise<Data | null>
  cancel(): void
}

/**
 * Sends a file with progress, for `FileUpload`. It ends when the page is left.
 *
 * @param onDone told what the platform answered; invalidate the queries that it changes here
 */
export function useUpload<Data>(
  path: string,
  {
    method = 'POST',
    asForm = true,
    read,
    onDone,
  }: {
    method?: 'POST' | 'PUT'
    /** false: the file itself is the body. */
    asForm?: boolean
    /** Makes the answer out of its text, where that is no JSON value; the same function at each render. */
    read?: (text: string) => Data
    onDone: (answer: Data) => void
  },
): Upload<Data> {
  const [state, setState] = useState(idle)
  const abort = useRef<AbortController | null>(null)
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  })
  useEffect(() => () => abort.current?.abort(), [])

  const send = useCallback(
    async (file: File, fields: Record<string, string> = {}) => {
      const controller = new AbortController()
      abort.current = controller
      setState({ ...idle, fileName: file.name, isSending: true })
      try {
        const answer = await sendFile<Data>(path, file, {
          method,
          fields: asForm ? fields : null,
          ...(read && { read }),
          signal: controller.signal,
          onProgress: ({ sentBytes, totalBytes }) =>
            setState(before => ({ ...before, share: totalBytes === 0 ? 1 : sentBytes / totalBytes })),
        })
        setState(idle)
        done.current(answer)
        return answer
      } catch (error) {
        setState({ ...idle, ...(controller.signal.aborted ? { wasCancelled: true } : { error }) })
        return null
      }
    },
    [path, method, asForm, read],
  )
  const cancel = useCallback(() => abort.current?.abort(), [])
  return { ...state, send, cancel }
}
