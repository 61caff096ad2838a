/**
 * Makes sure that a change is made only once, however often it is sent (`Idempotency-Key`). After a lost answer, the
 * same content is sent with the same key, even after the page was reloaded. Different content gets another key.
 *
 * Operations that set a state get a new key each time, because sending them twice does no harm. With the same key, the
 * platform would only repeat its first answer, even if a colleague has changed the state in the meantime.
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

type Operations = readonly [methods: string, path: RegExp][]

/** Other operations that keep their key after a lost answer. The regular expression's group is the changed resource. */
const steps: Operations = [
  ['POST', new RegExp(`^(/cashbacks/for-merchant/${id})/confirm$`)],
  ['POST', new RegExp(`^(/portal/cashbacks/${id}/.+)$`)],
  ['DELETE', new RegExp(`^(/portal/users/${id})$`)],
  ['POST', new RegExp(`^(/portal/users/${id})/reset-(?:password|mfa)$`)],
  ['DELETE', new RegExp(`^(/portal/invitations/${id})$`)],
  ['POST', new RegExp(`^(/portal/credentials/${id})/(?:rotate|revoke)$`)],
  ['POST', /^(\/portal\/password)$/],
  ['POST', /^(\/portal\/mfa)\/(?:totp\/confirm|recovery-codes)$/],
  ['DELETE', new RegExp(`^(/partner/v1/webhook-endpoints/${id})$`)],
  ['POST', new RegExp(`^(/partner/v1/webhook-endpoints/${id})/(?:rotate-secret|replay)$`)],
  ['POST', new RegExp(`^(/partner/v1/webhook-deliveries/${id})/(?:retry|skip)$`)],
]

/** The operations that set a state. They get a new key each time. The group is the changed resource. */
const settings: Operations = [
  ['PUT', new RegExp(`^(/portal/cashbacks/${id}/.+)$`)],
  ['PATCH', new RegExp(`^(/portal/users/${id})$`)],
  ['PUT', /^(\/portal\/(?:security-policy|language))$/],
  ['DELETE', /^(\/portal\/mfa)\/totp$/],
  ['PATCH', new RegExp(`^(/partner/v1/webhook-endpoints/${id})$`)],
  ['POST', new RegExp(`^(/partner/v1/webhook-endpoints/${id})/(?:enable|disable)$`)],
]

/** Whether a request removes an item of a list. Afterwards the same item can be created again. */
const isRemoval = (method: string, { pathname }: URL): boolean => method === 'DELETE' || pathname.endsWith('/revoke')

/** The content of these operations must not be stored, not even as a hash: somebody could guess the password from the hash. */
const isSecret = (pathname: string): boolean => pathname === '/portal/password'

/**
 * `resource` is the first part of the request's path, and names what is changed; null if something is created. `isKept`
 * is true if the key is sent again after a lost answer.
 */
type Change = { resource: string | null; isKept: boolean }

/** @returns null if the operation accepts no key, or if the request is the trial of an upload, which changes nothing */
function changeOf(method: string, { pathname, searchParams }: URL): Change | null {
  if (searchParams.get('dryRun') === 'true') return null
  if (method === 'POST' && lists.includes(pathname)) return { resource: null, isKept: true }
  for (const [operations, isKept] of [
    [steps, true],
    [settings, false],
  ] as const)
    for (const [methods, path] of operations) {
      const resource = methods.split(' ').includes(method) ? path.exec(pathname)?.[1] : undefined
      if (resource !== undefined) return { resource, isKept }
    }
  return null
}

const urlOf = (url: string): URL => new URL(url, 'https://this.platform')

const storagePrefix = 'perkline.key/'
const prefixOfList = (path: string): string => `${storagePrefix}${path}#`
/** How long a key is kept. After this time, we expect people to look at the current state before they press again. */
const keptMs = 10 * 60_000
/** Keys that must not be in `sessionStorage`. If the browser cannot store anything, all keys are here. */
const inMemory = new Map<string, string>()

/** The statuses of refusals that say nothing about an earlier request with the same key: logged out, no right, too many requests. */
const refusedBefore = [401, 403, 429]

/** An Idempotency-Key. It is stored until its request gets a final answer, but at most for `keptMs`. */
export type Key = {
  value: string
  /**
   * Call this with each answer. A success or a refusal deletes the key. After a 5xx the key stays, because the platform may have
   * made the change. The key also stays while the first request is being processed, and when a repeated request is refused before
   * the platform looks for its first answer. A success deletes the keys of all earlier
   * requests that change the same resource, too.
   *
   * @param status the HTTP status of the answer
   */
  answered(status: number, code: unknown): void
}

/**
 * @param request.content returns everything that identifies the request besides its method: address, body. It is called only if the
 *   operation accepts a key
 * @returns null when the operation accepts no key
 */
export async function keyFor(request: {
  method: string
  url: string
  content: () => Promise<string>
}): Promise<Key | null> {
  const { method } = request
  const url = urlOf(request.url)
  const change = changeOf(method, url)
  if (change === null) return null
  const { resource, isKept } = change
  const ofResource = resource === null ? prefixOfList(url.pathname) : `${storagePrefix}${resource}#`
  const name = await nameOf(ofResource, method, await request.content())
  const earlier = isKept ? read(name) : null
  const value = earlier ?? random()
  if (isKept) write(name, value, isSecret(url.pathname))
  return {
    value,
    answered(status, code) {
      if (status < 300 && resource !== null) forgetKeys(ofResource)
      const isFinal = status < 500 && code !== 'request-in-progress'
      if (isFinal && !(earlier !== null && refusedBefore.includes(status))) remove(name)
    },
  }
}

const nameOf = async (prefix: string, method: string, content: string): Promise<string> =>
  `${prefix}${await digest(`${method} ${content}`)}`
function contentOf(url: string, body: string): string {
  const { pathname, search } = urlOf(url)
  return `${pathname}${search}\n${body}`
}

/**
 * Whether something may have been created already: a request that creates something at this path was sent in this tab, and its
 * answer got lost.
 *
 * @param path one of `lists`
 */
export const mayBeCreated = (path: string): boolean => storedNames().some(name => name.startsWith(prefixOfList(path)))

/**
 * Whether sending this body would create another thing beside the one that may have been created already. It is false for the
 * content whose answer got lost, as long as its key is kept.
 *
 * @param address one of `lists`, with the parameters of the request
 */
export async function createsAnother(address: string, body: unknown): Promise<boolean> {
  const { pathname } = urlOf(address)
  if (!mayBeCreated(pathname)) return false
  const content = contentOf(address, JSON.stringify(body))
  return read(await nameOf(prefixOfList(pathname), 'POST', content)) === null
}

/** Call it once the person knows what has become of the earlier requests that create something at this path. */
export const forgetCreations = (path: string): void => forgetKeys(prefixOfList(path))

/** Deletes the stored keys whose names begin with `prefix`; default: all keys. Call it when another person may use the page. */
export function forgetKeys(prefix = storagePrefix): void {
  for (const each of storedNames()) if (each.startsWith(prefix)) remove(each)
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
  const [value, sinceMs] = (stored(name) ?? '').split('@')
  return value && Date.now() - Number(sinceMs) < keptMs ? value : null
}

function stored(name: string): string | null {
  try {
    return sessionStorage.getItem(name) ?? inMemory.get(name) ?? null
  } catch {
    return inMemory.get(name) ?? null
  }
}

function write(name: string, key: string, isSecret: boolean): void {
  const value = `${key}@${Date.now()}`
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

/** How many times we wait while the platform is still processing the first request with this key. */
const maxWaits = 20

/** Reads the whole answer before returning it. So an answer that breaks off in the middle counts as no answer. */
async function fetchWhole(request: Request): Promise<Response> {
  const response = await fetch(request)
  await response.clone().arrayBuffer()
  return response
}

/** `fetch` for the platform: adds the key, and waits for a first request that is still being processed. */
export async function fetchOnce(request: Request): Promise<Response> {
  const { url } = request
  const method = request.method.toUpperCase()
  const key = await keyFor({ method, url, content: async () => contentOf(url, await request.clone().text()) })
  if (key) request.headers.set('idempotency-key', key.value)
  for (let waited = 0; ; waited++) {
    const response = await fetchWhole(request.clone())
    if (response.ok && isRemoval(method, urlOf(url))) lists.forEach(forgetCreations)
    if (key === null) return response
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
