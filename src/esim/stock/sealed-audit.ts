/** Checks whether sealed profiles can still be decrypted. */
import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Check, Finding, Step } from '../../db/check.ts'
import { SealingError } from '../../sealing.ts'
import type { Sealing } from './sealing.ts'
import { type SampledProfile, sampleSealedProfiles } from './store.ts'

export const sealedCheck: Check = {
  code: 'sealed-profiles',
  name: 'encrypted data belongs to its profile',
  holds: '{profiles} profiles picked at random can be decrypted, each in its own row',
  params: ['profiles'],
}

const openedProfiles = 2_000
/**
 * After this many profiles, the process serves other requests before it decrypts more. Each profile takes some
 * microseconds.
 */
const openedAtOnce = 200

/**
 * Decrypts a random sample of the profiles. The sealed data must belong to its own row, and its ICCID and activation
 * code must match the hashes in the row (contract/security.md, "Keys").
 */
export const sealedStep = (sealing: Sealing): Step => ({
  name: 'sealed-profiles',
  table: 'tariffs',
  async next(database) {
    const profiles = await sampleSealedProfiles(database, openedProfiles)
    const findings: Finding[] = []
    for (const [index, profile] of profiles.entries()) {
      if (index % openedAtOnce === 0) await othersTurn()
      const text = openingError(sealing, profile)
      if (text !== null) findings.push({ code: sealedCheck.code, text })
    }
    const counts = { [sealedCheck.code]: { profiles: profiles.length } }
    return { findings, counts, rows: profiles.length, reached: null }
  },
})

function openingError(sealing: Sealing, profile: SampledProfile): string | null {
  try {
    const { iccid, activationCode } = sealing.open(profile.sealed, profile)
    if (!sealing.hashIccid(iccid).equals(profile.iccidHash))
      return `profile ${profile.profileId} holds another ICCID than the one it is found by`
    const { activationHash } = profile
    if (activationHash === null || sealing.hashActivationCode(activationCode)?.equals(activationHash)) return null
    return `profile ${profile.profileId} holds another activation code than the one it is compared by`
  } catch (error) {
    if (error instanceof SealingError)
      return `profile ${profile.profileId} was sealed with a key that MASTER_KEY does not hold`
    return `profile ${profile.profileId} does not open: it was changed, or moved from another row`
  }
}
