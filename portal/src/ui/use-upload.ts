import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { isApiError } from '../api/errors.ts'
import { upload as sendFile } from '../api/upload.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { useConfirm } from './confirm.tsx'
import { keepFocus } from './keep-focus.ts'
import { countUpload } from './running-uploads.ts'
import { uiTexts } from './texts.ts'

type State = { fileName: string | null; share: number; isSending: boolean; error: unknown; wasCancelled: boolean }
const idle: State = { fileName: null, share: 0, isSending: false, error: null, wasCancelled: false }

export type Upload<Data> = State & {
  /** True as long as the person can cancel and the platform then stores nothing. */
  canCancel: boolean
  isTrial: boolean
  /** The name of a file whose upload was interrupted because the person left this page or the session ended; null: none. */
  interrupted: string | null
  /** @param headers further headers of the request */
  send(file: File, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Data | null>
  cancel(): void
}

type Options<Data> = {
  method?: 'POST' | 'PUT'
  /** false: the file itself is the body. */
  asForm?: boolean
  /** True if the platform stores nothing from this upload. Then it can be cancelled and left at any time. */
  isTrial?: boolean
  /** Converts the answer's text, if it is not a single JSON value. Pass the same function at each render. */
  read?: (text: string) => Data
  onDone: (answer: Data) => void
  /** Called when the upload fails. `FileUpload` shows the error by itself. */
  onError?: (error: unknown) => void
  /**
   * Called when the person cancels. Read the affected data again here: if the last byte was sent just before, the
   * platform stores the file.
   */
  onCancel?: () => void
}

/**
 * Sends a file with progress, for `FileUpload`. Once the last byte is sent, the platform may store the file at any
 * moment, so it cannot be cancelled any more. A person who leaves the page during the upload is asked first, and is
 * told after coming back that it was interrupted. If the session ends during the upload, the portal goes to the login
 * without a question.
 *
 * @param options.onDone called with the platform's answer; invalidate the changed queries here
 */
export function useUpload<Data>(path: string, options: Options<Data>): Upload<Data> {
  const { method = 'POST', asForm = true, isTrial = false, read } = options
  const [state, setState] = useState(idle)
  const note = useNote(path)
  const abort = useRef<AbortController | null>(null)
  const latest = useRef(options)
  useEffect(() => {
    latest.current = options
  })
  useEffect(() => () => abort.current?.abort(leaving), [])
  useAskBeforeLeaving(state.isSending && !isTrial)

  const send = useCallback(
    async (file: File, fields: Record<string, string> = {}, headers: Record<string, string> = {}) => {
      const controller = new AbortController()
      abort.current = controller
      setState({ ...idle, fileName: file.name, isSending: true })
      let isRunning = true
      keepFocus(() => isRunning)
      if (!isTrial) note.write(file.name)
      try {
        const answer = await sendFile<Data>(path, file, {
          method,
          fields: asForm ? fields : null,
          ...(read && { read }),
          headers,
          signal: controller.signal,
          onProgress: ({ sentBytes, totalBytes }) =>
            setState(before => ({ ...before, share: totalBytes === 0 ? 1 : sentBytes / totalBytes })),
        })
        note.remove()
        setState(idle)
        latest.current.onDone(answer)
        return answer
      } catch (error) {
        if (controller.signal.reason === leaving) return null
        // The session has ended, so the portal goes to the login. The note with the file's name stays, because the
        // person is told about the interrupted upload after the login.
        if (isApiError(error, 401)) {
          setState(idle)
          return null
        }
        note.remove()
        setState({ ...idle, ...(controller.signal.aborted ? { wasCancelled: true } : { fileName: file.name, error }) })
        if (controller.signal.aborted) latest.current.onCancel?.()
        else latest.current.onError?.(error)
        return null
      } finally {
        isRunning = false
      }
    },
    [path, method, asForm, isTrial, read, note],
  )
  const cancel = useCallback(() => abort.current?.abort(), [])
  const canCancel = isTrial || state.share < 1
  return { ...state, canCancel, isTrial, interrupted: state.isSending ? null : note.fileName, send, cancel }
}

const leaving = 'The page was left'

function useAskBeforeLeaving(isSending: boolean): void {
  const { upload: texts } = useTexts(uiTexts)
  const confirm = useConfirm()
  useEffect(() => {
    if (isSending) return countUpload()
  }, [isSending])
  useBlocker({
    disabled: !isSending,
    enableBeforeUnload: isSending,
    // The portal goes to the login when the session has ended, and gives the reason. That is never blocked, because the
    // page must not stay visible. In a session that goes on, the login leads back into the portal.
    shouldBlockFn: async ({ next }) =>
      !(next.routeId === '/login' && 'because' in next.search && next.search.because !== undefined) &&
      !(await confirm({ title: texts.leaveTitle, text: texts.leaveText, action: texts.leave, isDangerous: true })),
  })
}

type Note = { fileName: string | null; write(fileName: string): void; remove(): void }

/** Stores, for this tab, the name of the file that is being uploaded, also when the person has left the page. */
function useNote(path: string): Note {
  const key = `perkline.upload/${path}`
  const [note] = useState<Note>(() => ({
    fileName: sessionStorage.getItem(key),
    write(fileName) {
      sessionStorage.setItem(key, fileName)
      note.fileName = null
    },
    remove() {
      sessionStorage.removeItem(key)
      note.fileName = null
    },
  }))
  return note
}
