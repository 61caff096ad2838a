/**
 * fast-check for the tests of rules. All use one seed, so that a repeated run gives the same result. `PROPERTY_SEED` sets another seed,
 * or `random`. The report of a failure shows the seed.
 */
import process from 'node:process'
import fc from 'fast-check'

const defaultSeed = 1

const chosen = process.env.PROPERTY_SEED
if (chosen !== 'random')
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: chosen ? Number(chosen) : defaultSeed })

export { default } from 'fast-check'
