/** What `perkline doctor` says of one thing. */
export type Finding = {
  name: string
  /** False: the platform would not work, or could lose what it acknowledged. */
  ok: boolean
  /** `warning`: it works, and something should be done all the same. */
  status: 'ok' | 'warning' | 'failed'
  detail: string
  /** What to do; null where nothing is to be done. */
  advice: string | null
}

export const passed = (name: string, detail: string): Finding => ({
  name,
  ok: true,
  status: 'ok',
  detail,
  advice: null,
})
export const warned = (name: string, detail: string, advice: string): Finding => ({
  name,
  ok: true,
  status: 'warning',
  detail,
  advice,
})
export const failed = (name: string, detail: string, advice: string): Finding => ({
  name,
  ok: false,
  status: 'failed',
  detail,
  advice,
})
