/**
 * Makes sure that a change is made only once, however often it is sent (`Idempotency-Key`). After a lost answer, the
 * same content is sent with the same key, even after the page was reloaded. Different content gets another key.
 */

const operations: readonly [method: string, path: RegExp][] = [
  ['POST', /^\/cashbacks\/for-merchant(\/[^/]+\/confirm)?$/],
  ['POST', /^\/portal\/cashbacks(\/|$)/],
  ['PUT', /^\/portal\/cashbacks\//],
  ['POST', /^\/portal\/(invitations|credentials(\/[^/]+\/rotate)?|users\/[^/]+\/reset-password)$/],
  ['POST', /^\/portal\/mfa\/(totp\/confirm|recovery-codes)$/],
]

/** Whether the operation accepts a key. A trial of an upload changes nothing and needs none. */
export function takesKey(method: string, url: string): boolean {
  const { pathname, searchParams } = new URL(url, 'https://this.platform')
  return (
    searchParams.get('dryRun') !== 'true' &&
    operations.some(([taken, path]) => taken === method.toUpperCase() && path.test(pathname))
  )
}

const storagePrefix = 'perkline.key/'
/** The keys in a browser that cannot store anything. */
const inMemory = new Map<string, string>()

/** An Idempotency-Key. It is stored until its request has got a final answer. */
export type Key = {
  value: string
  /**
   * Call this with each answer. A success or a refusal deletes the key. It stays after a 5xx, because the change may have been
   * made, and while the first request is still being processed.
   *
   * @param status the HTTP status of the answer
   */
  answered(status: number, code: unknown): void
}

/** @param content everything that identifies the request: method, address, body */
export async function keyFor(content: string): Promise<Key> {
  const name = storagePrefix + (await digest(content))
  const value = read(name) ?? random()
  write(name, value)
  return {
    value,
    answered(status, code) {
      if (status < 500 && code !== 'request-in-progress') remove(name)
    },
  }
}

function random(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Pages without TLS lack `crypto.subtle`; they use the content itself in place of its hash. */
async function digest(content: string): Promise<string> {
  if (!crypto.subtle) return content
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content)))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

function read(name: string): string | null {
  try {
    return sessionStorage.getItem(name) ?? inMemory.get(name) ?? null
  } catch {
    return inMemory.get(name) ?? null
  }
}

function write(name: string, value: string): void {
  inMemory.set(name, value)
  try {
    sessionStorage.setItem(name, value)
  } catch {
    // `sessionStorage` is full or disabled, so the key is only in memory and is lost when the page is closed.
  }
}

function remove(name: string): void {
  inMemory.delete(name)
  try {
    sessionStorage.removeItem(name)
  } catch {
    // `sessionStorage` cannot be used, so the key was only in memory.
  }
}

/** How many times we wait for the first request with this key, while the platform is still processing it. */
const maxWaits = 20

/** Reads the whole answer before returning it. So an answer that breaks off in the middle counts as no answer. */
async function fetchWhole(request: Request): Promise<Response> {
  const response = await fetch(request)
  await response.clone().arrayBuffer()
  return response
}

/** `fetch` for the platform: adds the key, and waits for a first request that is still being processed. */
export async function fetchOnce(request: Request): Promise<Response> {
  if (!takesKey(request.method, request.url)) return fetchWhole(request)
  const key = await keyFor(`${request.method} ${request.url}\n${await request.clone().text()}`)
  request.headers.set('idempotency-key', key.value)
  for (let waited = 0; ; waited++) {
    const response = await fetchWhole(request.clone())
    const code = response.ok ? null : await errorCode(response.clone())
    key.answered(response.status, code)
    if (code !== 'request-in-progress' || waited === maxWaits) return response
    await new Promise(resolve => setTimeout(resolve, 1_000))
  }
}

async function errorCode(response: Response): Promise<unknown> {
  const inHeader = response.headers.get('perkline-error-code')
  if (inHeader !== null) return inHeader
  const body: unknown = await response.json().catch(() => null)
  return (body as { code?: unknown } | null)?.code
}
