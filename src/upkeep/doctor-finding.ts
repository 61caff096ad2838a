/** The result of one check of `perkline doctor`. */
export type Finding = {
  name: string
  /** False when the platform does not work, or could lose acknowledged data. */
  ok: boolean
  /** `warning`: the platform works, but something should be done. */
  status: 'ok' | 'warning' | 'failed'
  detail: string
  /** What to do; null when nothing is needed. */
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
