/** Addresses as the platform takes them: with the characters of RFC 3986 only. */

/** Characters that an address must not have as they are. Browsers escape some of them only. */
const unfit = /[^!-~]|["<>\\^`{|}[\]]/g

/**
 * Writes an address with other characters, such as `https://приклад.укр/я.png`, as browsers send it: with `xn--` in the host
 * and `%` escapes after it. Returns every other text unchanged.
 */
export function asciiAddress(text: string): string {
  if (!/^https?:\/\/[^/\\]/i.test(text) || text.search(unfit) < 0 || !URL.canParse(text)) return text
  const { href, origin } = new URL(text)
  // The host of an IPv6 address has brackets. After the origin they must be escaped.
  return href.startsWith(origin) ? origin + href.slice(origin.length).replace(unfit, encodeURIComponent) : href
}
