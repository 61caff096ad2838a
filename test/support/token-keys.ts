/** Key pairs of tokens for tests: from a running platform, or made without a database. */
import { createTokenKeys, makeTokenKey, type TokenKeys } from '../../src/access/token-keys.ts'
import { findTokenKeys } from '../../src/access/token-keys-store.ts'
import { createTokens, type Tokens } from '../../src/access/tokens.ts'
import type { TestPlatform } from './platform.ts'

/**
 * Signs and reads tokens as the platform does.
 * @param nowMs the time that it uses as the current time
 */
export async function tokensOf({ platform, config }: TestPlatform, nowMs?: () => number): Promise<Tokens> {
  const readKeys = () => findTokenKeys(platform.database)
  const keys = createTokenKeys({ readKeys, masterKeys: config.masterKeys, mayIssue: true })
  await keys.refresh()
  return createTokens(keys, nowMs)
}

/** A key pair that has been in use since 1970. */
export async function makeTokenKeys(masterKeys: readonly Buffer[]): Promise<TokenKeys> {
  const row = makeTokenKey(masterKeys, new Date(0))
  const keys = createTokenKeys({ readKeys: async () => [row], masterKeys, mayIssue: true })
  await keys.refresh()
  return keys
}
