/** Sends a file with its progress, which `fetch` does not tell. */
import { ApiError, apiError, noAnswer } from './errors.ts'
import { endSession } from './session-end.ts'

export type UploadProgress = { sentBytes: number; totalBytes: number }

/**
 * Sends a file as `multipart/form-data`, field `file`, and gives the platform's answer.
 *
 * @param fields other fields of the form; they go before the file
 * @param signal ends the upload: the promise is then rejected with an AbortError
 * @throws ApiError as any other call
 */
export function upload<Data>(
  path: string,
  file: File,
  {
    method = 'POST',
    fields = {},
    onProgress,
    signal,
  }: {
    method?: 'POST' | 'PUT'
    fields?: Record<string, string>
    onProgress?: (progress: UploadProgress) => void
    signal?: AbortSignal
  } = {},
): Promise<Data> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', file)

  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const cancel = () => request.abort()
    request.open(method, path)
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total })
    request.onload = () => {
      const body = readJson(request.responseText)
      if (request.status >= 200 && request.status < 300) return resolve(body as Data)
      if (request.status === 401) endSession()
      reject(apiError(request.status, body, { get: name => request.getResponseHeader(name) }))
    }
    request.onerror = () => reject(new ApiError(noAnswer, [], null))
    request.onabort = () => reject(new DOMException('The upload was cancelled', 'AbortError'))
    request.onloadend = () => signal?.removeEventListener('abort', cancel)
    if (signal?.aborted) return reject(new DOMException('The upload was cancelled', 'AbortError'))
    signal?.addEventListener('abort', cancel)
    request.send(form)
  })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
