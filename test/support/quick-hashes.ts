/**
 * Loaded before the tests of a room that checks no password rules: passwords are hashed with less memory and fewer rounds. A test logs in
 * many people, and each full hash takes a processor 20 ms. The product has no such setting: the tests replace the package below it.
 */
import { registerHooks } from 'node:module'

const cheapArgon2 = new URL('cheap-argon2.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@node-rs/argon2' && context.parentURL !== cheapArgon2
      ? { url: cheapArgon2, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
})
