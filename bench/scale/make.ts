/**
 * `bin/node bench/scale/make.ts DATABASE_URL --orders 1000000 ...` fills an empty database, so that you can look at
 * plans or run a platform on it. It prints the keys that the platform needs as environment variables.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { type Sizes, sizeNames, usualShare } from './sizes.ts'
import { makeScaleWorld } from './world.ts'

const { values, positionals } = parseArgs({
  options: Object.fromEntries(sizeNames.map(name => [name, { type: 'string' as const }])),
  allowPositionals: true,
})
const [url] = positionals
const usual: Sizes = { orders: 20_000, profiles: 30_000, campaigns: 2_000, banks: 20, share: usualShare }
const sizes = Object.fromEntries(sizeNames.map(name => [name, Number(values[name] ?? usual[name])])) as Sizes
if (url === undefined) {
  process.stderr.write(`usage: bench/scale/make.ts DATABASE_URL ${sizeNames.map(name => `[--${name} N]`).join(' ')}\n`)
  process.exitCode = 2
} else {
  const { masterKey, operatorKey } = await makeScaleWorld(url, sizes, line => process.stderr.write(`${line}\n`))
  process.stdout.write(`DATABASE_URL=${url}\nMASTER_KEY=${masterKey}\nOPERATOR_KEY=${operatorKey}\n`)
}
