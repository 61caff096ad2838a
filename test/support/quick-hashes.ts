/**
 * Makes passwords hash with less memory and fewer rounds. It is loaded before tests that check no password rules, because they log in
 * many people, and each full hash takes 20 ms. The product has no such setting: the tests replace the package that it uses.
 */
import { registerHooks } from 'node:module'

const cheapArgon2 = new URL('cheap-argon2.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@node-rs/argon2' && context.parentURL !== cheapArgon2
      ? { url: cheapArgon2, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
})
