/** Saves files that the platform or a page makes. */

import { refuse } from './client.ts'
import { ApiError, noAnswer } from './errors.ts'

/**
 * Fetches a file and saves it under the name that the platform gives it.
 *
 * @param name used when the platform gives none
 * @throws ApiError when the platform refuses the request, or when no answer or only a part of the file arrives
 */
export async function download(path: string, name: string, signal?: AbortSignal): Promise<void> {
  const response = await fetch(path, { credentials: 'same-origin', ...(signal && { signal }) }).catch(error => {
    if (signal?.aborted) throw error
    throw new ApiError(noAnswer, [], null)
  })
  if (!response.ok) return refuse(response)
  const content = await response.blob().catch(error => {
    if (signal?.aborted) throw error
    // The connection broke off in the middle of the file.
    throw new ApiError(noAnswer, [], null)
  })
  save(content, givenName(response.headers.get('content-disposition')) ?? name)
}

/** Saves a text as a file, exactly as it is. */
export function saveText(name: string, text: string): void {
  save(new Blob([text], { type: 'text/csv;charset=utf-8' }), name)
}

function givenName(disposition: string | null): string | null {
  const [, encoded] = /filename\*=utf-8''([^;]+)/i.exec(disposition ?? '') ?? []
  if (encoded) return decodeURIComponent(encoded)
  const [, plain] = /filename="?([^";]+)"?/i.exec(disposition ?? '') ?? []
  return plain ?? null
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The URL is released after ten seconds, because the browser has surely opened the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
