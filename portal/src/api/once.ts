/**
 * Makes sure that a change is made only once, however often it is sent (`Idempotency-Key`). After a lost answer, the
 * same content is sent with the same key, even after the page was reloaded. Different content gets another key.
 */

/** One part of a path. */
const id = '[^/]+'

/** A POST to one of these lists creates something. Requests with different content are independent of each other. */
const lists = [
  '/cashbacks/for-merchant',
  '/portal/cashbacks',
  '/portal/invitations',
  '/portal/credentials',
  '/partner/v1/webhook-endpoints',
]

/** The operations that change a thing. The group in each path is the thing. */
const changing: readonly [methods: string, path: RegExp][] = [
  ['POST', new RegExp(`^(/cashbacks/for-merchant/${id})/confirm$`)],
  ['POST PUT', new RegExp(`^(/portal/cashbacks/${id}/.+)$`)],
  ['PATCH DELETE', new RegExp(`^(/portal/users/${id})$`)],
  ['POST', new RegExp(`^(/portal/users/${id})/reset-(?:password|mfa)$`)],
  ['DELETE', new RegExp(`^(/portal/invitations/${id})$`)],
  ['POST', new RegExp(`^(/portal/credentials/${id})/(?:rotate|revoke)$`)],
  ['PUT', /^(\/portal\/(?:security-policy|language))$/],
  ['POST', /^(\/portal\/password)$/],
  ['DELETE', /^(\/portal\/mfa)\/totp$/],
  ['POST', /^(\/portal\/mfa)\/(?:totp\/confirm|recovery-codes)$/],
  ['PATCH DELETE', new RegExp(`^(/partner/v1/webhook-endpoints/${id})$`)],
  ['POST', new RegExp(`^(/partner/v1/webhook-endpoints/${id})/(?:enable|disable|rotate-secret|replay)$`)],
  ['POST', new RegExp(`^(/partner/v1/webhook-deliveries/${id})/(?:retry|skip)$`)],
]

/** The content of these operations must not be stored, not even as a hash, from which a password can be guessed. */
const isSecret = (pathname: string): boolean => pathname === '/portal/password'

/**
 * The thing that a request changes, as the first part of its path; '': it creates one. null: the operation accepts no key. A trial of
 * an upload changes nothing and needs none.
 */
function thingOf(method: string, { pathname, searchParams }: URL): string | null {
  if (searchParams.get('dryRun') === 'true') return null
  const name = method.toUpperCase()
  if (name === 'POST' && lists.includes(pathname)) return ''
  for (const [methods, path] of changing) {
    const found = methods.split(' ').includes(name) && path.exec(pathname)
    if (found) return found[1] ?? null
  }
  return null
}

const urlOf = (url: string): URL => new URL(url, 'https://this.platform')

/** Whether the operation accepts a key. */
export const takesKey = (method: string, url: string): boolean => thingOf(method, urlOf(url)) !== null

const storagePrefix = 'perkline.key/'
/** The keys in a browser that cannot store anything, and those that must not be stored. */
const inMemory = new Map<string, string>()

/** An Idempotency-Key. It is stored until its request has got a final answer. */
export type Key = {
  value: string
  /**
   * Call this with each answer. A success or a refusal deletes the key. It stays after a 5xx, because the change may have been
   * made, and while the first request is still being processed. A success also deletes the keys of earlier requests that would
   * change the same thing: the same content is then a new request, for example to disable an endpoint that was enabled since.
   *
   * @param status the HTTP status of the answer
   */
  answered(status: number, code: unknown): void
}

/**
 * @param request.content everything that identifies the request besides its method: address, body
 * @returns null when the operation accepts no key
 */
export async function keyFor(request: { method: string; url: string; content: string }): Promise<Key | null> {
  const { method, content } = request
  const url = urlOf(request.url)
  const thing = thingOf(method, url)
  if (thing === null) return null
  const ofThing = `${storagePrefix}${thing}#`
  const name = `${ofThing}${await digest(`${method} ${content}`)}`
  const value = read(name) ?? random()
  write(name, value, isSecret(url.pathname))
  return {
    value,
    answered(status, code) {
      if (status < 300 && thing !== '') for (const each of storedNames()) if (each.startsWith(ofThing)) remove(each)
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

function write(name: string, value: string, isSecret: boolean): void {
  inMemory.set(name, value)
  if (isSecret) return
  try {
    sessionStorage.setItem(name, value)
  } catch {
    // `sessionStorage` is full or disabled, so the key is only in memory and is lost when the page is closed.
  }
}

function storedNames(): string[] {
  const names = [...inMemory.keys()]
  try {
    for (let at = 0; at < sessionStorage.length; at++) names.push(sessionStorage.key(at) ?? '')
  } catch {
    // `sessionStorage` cannot be used, so all keys are in memory.
  }
  return names
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
  const { method, url } = request
  if (!takesKey(method, url)) return fetchWhole(request)
  const key = await keyFor({ method, url, content: `${url}\n${await request.clone().text()}` })
  if (key === null) return fetchWhole(request)
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
