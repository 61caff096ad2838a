/** The commands that rotate keys on a running platform. */
import { callAdmin, streamAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { counted, type OutputOptions, print } from './output.ts'
import { showProgress } from './progress.ts'

type Step = { progress?: { done: number; total: number }; result?: { resealed: number } }

/** `perkline keys rotate --tokens`: creates a new key pair for access tokens; existing tokens stay valid. */
export async function rotateTokenKey(options: OutputOptions): Promise<void> {
  const result = await callAdmin<{ keyId: string; signsFrom: string }>({ method: 'POST', path: '/keys/rotate-tokens' })
  print(options, result, [
    `Key pair ${result.keyId} signs access tokens from ${result.signsFrom} on; live tokens stay valid`,
  ])
}

/** `perkline keys rotate`: encrypts everything again with the first master key while the platform keeps serving. */
export async function rotateKeys(options: OutputOptions): Promise<void> {
  const progress = await showProgress('Re-encrypting')
  let result: Step['result']
  try {
    for await (const step of streamAdmin<Step>({ method: 'POST', path: '/keys/rotate', long: true })) {
      if (step.progress) progress.show(step.progress.done, step.progress.total)
      result ??= step.result
    }
  } finally {
    progress.end()
  }
  if (!result) throw new CommandError('The platform broke off before the end. Please start it again.')
  print(options, result, [
    `${counted(result.resealed, 'profile', 'profiles')} re-encrypted: all of them use the first key now`,
  ])
}
