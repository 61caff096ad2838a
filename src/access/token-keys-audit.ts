/** Checks whether the master key proves each key that verifies tokens (`token-key-sealing.ts`). */
import { realMs } from '../clock.ts'
import type { Check, Step } from '../db/check.ts'
import { findUnprovenKeys } from './token-keys.ts'

export const tokenKeysCheck: Check = {
  code: 'token-keys',
  name: 'the master key proves each key of tokens',
  holds: '{keys} keys of tokens, and none in use without a proof',
  params: ['keys'],
}

/** There are few keys, so one call of `next` reads them all. */
export const tokenKeysStep = (masterKeys: readonly Buffer[]): Step => ({
  name: 'token-keys',
  table: 'token_keys',
  async next(database) {
    const { unproven, keys } = await findUnprovenKeys(database, masterKeys, realMs())
    const findings = unproven.map(keyId => ({
      code: tokenKeysCheck.code,
      text:
        `MASTER_KEY does not prove token key ${keyId}, so its tokens are refused: add the former master key to MASTER_KEY; ` +
        'if none of yours proves it, find out who wrote it to the database',
    }))
    return { findings, counts: { [tokenKeysCheck.code]: { keys } }, rows: keys, reached: null }
  },
})
