/** Sends a file and reports the progress, which `fetch` cannot do. */
import { ApiError, apiError, FileChangedError, noAnswer } from './errors.ts'
import { type Key, keyFor } from './once.ts'
import { endSession } from './session-end.ts'

type UploadProgress = { sentBytes: number; totalBytes: number }

/**
 * Sends a file as `multipart/form-data`, field `file`, and returns the platform's answer.
 *
 * @param options.fields other fields of the form, sent before the file; null: the file itself is the body, as `text/csv`
 * @param options.read converts the text of a success to the result
 * @param options.headers further headers
 * @param options.signal cancels the upload; the promise is then rejected with an AbortError
 * @throws ApiError when the platform refuses the upload, or when no answer arrives; FileChangedError if the file has changed since the
 *   person chose it
 */
export async function upload<Data>(path: string, file: File, options: Options<Data> = {}): Promise<Data> {
  const { method = 'POST', fields } = options
  const content = async () => JSON.stringify([path, fields, file.name, file.size, file.lastModified])
  return send(path, file, options, await keyFor({ method, url: path, content }))
}

type Options<Data> = {
  method?: 'POST' | 'PUT'
  fields?: Record<string, string> | null
  headers?: Record<string, string>
  read?: (text: string) => Data
  onProgress?: (progress: UploadProgress) => void
  signal?: AbortSignal
}

function send<Data>(path: string, file: File, options: Options<Data>, key: Key | null): Promise<Data> {
  const {
    method = 'POST',
    fields = {},
    headers = {},
    read = text => readJson(text) as Data,
    onProgress,
    signal,
  } = options
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const cancel = () => request.abort()
    request.open(method, path)
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total })
    request.onload = () => {
      key?.answered(request.status, (readJson(request.responseText) as { code?: unknown } | null)?.code)
      if (request.status >= 200 && request.status < 300) return resolve(read(request.responseText))
      if (request.status === 401) endSession()
      reject(apiError(request.status, readJson(request.responseText), { get: name => request.getResponseHeader(name) }))
    }
    request.onerror = async () =>
      reject((await canRead(file)) ? new ApiError(noAnswer, [], null) : new FileChangedError())
    request.onabort = () => reject(new DOMException('The upload was cancelled', 'AbortError'))
    request.onloadend = () => signal?.removeEventListener('abort', cancel)
    if (signal?.aborted) return reject(new DOMException('The upload was cancelled', 'AbortError'))
    signal?.addEventListener('abort', cancel)
    if (key) request.setRequestHeader('idempotency-key', key.value)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    if (fields === null) request.setRequestHeader('content-type', 'text/csv')
    request.send(fields === null ? file : formOf(file, fields))
  })
}

/** The browser refuses to read a file that has changed on disk since it was chosen (NotReadableError), or is gone. */
const canRead = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )

function formOf(file: File, fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', file)
  return form
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
