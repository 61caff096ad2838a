import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isEmailAddress } from '../../src/mail/address.ts'

const label63 = 'd'.repeat(63)
const address254 = `${'l'.repeat(64)}@${label63}.${label63}.${'d'.repeat(61)}`

const mailboxes: Record<string, string> = {
  'an ordinary address': 'olena.koval@example.com',
  'one character on each side': 'a@b',
  'every character an atom may have': "!#$%&'*+-/=?^_`{|}~.az09AZ@example.com",
  'a domain without a dot': 'admin@localhost',
  'digits as a domain label': 'a@123.456.example',
  'a punycode domain': 'a@xn--80ak6aa92e.xn--j1amh',
  'hyphens inside a label': 'a@e-x--y.example',
  'a local part of 64 characters': `${'l'.repeat(64)}@example.com`,
  'a label of 63 characters': `a@${label63}.example`,
  '254 characters': address254,
  'a quoted local part with spaces': '"olena koval"@example.com',
  'a quoted local part with "@" and a comma': '"a@b,c"@example.com',
  'a quoted local part with escapes': '"a\\"b\\\\c"@example.com',
  'an empty quoted local part': '""@example.com',
  'an IPv4 literal': 'a@[127.0.0.1]',
  'an IPv4 literal with leading zeros, which the grammar allows': 'a@[010.000.000.001]',
  'an IPv6 literal': 'a@[IPv6:2001:db8:1:2:3:4:5:6]',
  'a shortened IPv6 literal': 'a@[IPv6:2001:db8::1]',
  'an IPv6 literal with its tag in another case': 'a@[ipv6:::1]',
  'an IPv6 literal that ends in IPv4': 'a@[IPv6:::ffff:192.0.2.1]',
}

const others: Record<string, string> = {
  'an empty text': '',
  'no "@"': 'example.com',
  'nothing before "@"': '@example.com',
  'nothing after "@"': 'a@',
  'two "@"': 'a@b@example.com',
  'a dot at the beginning': '.a@example.com',
  'a dot before "@"': 'a.@example.com',
  'two dots in a row': 'a..b@example.com',
  'a space in the local part': 'a b@example.com',
  'a space at the beginning': ' a@example.com',
  'a space at the end': 'a@example.com ',
  'a line feed at the end': 'a@example.com\n',
  'a line break with a header behind it': 'a@example.com\r\nBcc: b@example.com',
  'a NUL': 'a\u0000@example.com',
  'several addresses': 'a@example.com,b@example.com',
  'a name and an address': 'Olena <a@example.com>',
  'angle brackets': '<a@example.com>',
  'a comment': 'a(comment)@example.com',
  'a local part of 65 characters': `${'l'.repeat(65)}@example.com`,
  'a label of 64 characters': `a@${label63}d.example`,
  '255 characters': `${address254}d`,
  'a dot at the end of the domain': 'a@example.com.',
  'a dot at the beginning of the domain': 'a@.example.com',
  'an empty label': 'a@example..com',
  'a hyphen at the beginning of a label': 'a@-example.com',
  'a hyphen at the end of a label': 'a@example-.com',
  'an underscore in the domain': 'a@ex_ample.com',
  'a quote that is never closed': '"a@example.com',
  'a quoted string beside an atom': '"a"b@example.com',
  'a bare quote inside quotes': '"a"b"@example.com',
  'an escape before the closing quote': '"a\\"@example.com',
  'a line break inside quotes': '"a\r\nb"@example.com',
  'a tab inside quotes': '"a\tb"@example.com',
  'letters that are not ASCII': 'олена@example.com',
  'a domain that is not ASCII': 'a@приклад.укр',
  'the Kelvin sign, which folds to k': 'a@\u212Aiev.example',
  'an IPv4 literal out of range': 'a@[256.0.0.1]',
  'an IPv4 literal of three numbers': 'a@[127.0.1]',
  'an IPv6 literal without its tag': 'a@[::1]',
  'an IPv6 literal with a zone': 'a@[IPv6:fe80::1%eth0]',
  'an IPv6 literal whose "::" stands for one group': 'a@[IPv6:1:2:3::5:6:7:8]',
  'an IPv6 literal with IPv4 and too many groups': 'a@[IPv6:1:2:3:4:5::192.0.2.1]',
  'an IPv6 literal with nine groups': 'a@[IPv6:1:2:3:4:5:6:7:8:9]',
  'a literal of another kind': 'a@[X400:abc]',
  'an empty literal': 'a@[]',
  'a literal that is never closed': 'a@[127.0.0.1',
}

for (const [what, text] of Object.entries(mailboxes)) {
  test(`is an e-mail address: ${what}`, () => assert.equal(isEmailAddress(text), true))
}

for (const [what, text] of Object.entries(others)) {
  test(`is no e-mail address: ${what}`, () => assert.equal(isEmailAddress(text), false))
}
