/** Addresses that a person pastes into the portal's form are sent with the characters that the platform takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asciiAddress } from '../../portal/src/campaigns/form/web-address.ts'
import { webAddress } from '../../src/text/text-rules.ts'

test('other characters are escaped, and other texts stay as they are', () => {
  const expected: Record<string, string> = {
    'https://приклад.укр/я.png': 'https://xn--80aikifvh.xn--j1amh/%D1%8F.png',
    'https://a.b/a b?c[]={d}|e#"f"': 'https://a.b/a%20b?c%5B%5D=%7Bd%7D%7Ce#%22f%22',
    'https://[::1]:8443/[я]': 'https://[::1]:8443/%5B%D1%8F%5D',
  }
  for (const [text, address] of Object.entries(expected)) {
    assert.equal(asciiAddress(text), address)
    assert.ok(webAddress.holds(address), address)
  }
  const same = [
    '',
    'https://cdn.Example',
    'HTTPS://a.b/%D1%8F',
    'data:image/png;base64,aGk=',
    'http:///я',
    'я',
    'https://',
  ]
  for (const text of same) assert.equal(asciiAddress(text), text)
})
