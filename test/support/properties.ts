/**
 * fast-check for the tests of rules. All draw from one seed, so that a run says the same twice; `PROPERTY_SEED` takes another one, or
 * `random`. The report of a failure tells the seed.
 */
import process from 'node:process'
import fc from 'fast-check'

const defaultSeed = 1

const chosen = process.env.PROPERTY_SEED
if (chosen !== 'random')
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: chosen ? Number(chosen) : defaultSeed })

export { default } from 'fast-check'
