/** The settings that `perkline doctor` checks. */
export type DoctorSettings = {
  databaseUrl: string | null
  databasePool: number
  dataDir: string
  mode: 'sandbox' | 'live'
  publicUrl: string
  masterKeys: readonly Buffer[]
  smtpUrl: string | null
  redisUrl: string | null
  metrics: object | null
  auditAnchorFile: string | null
  /** The warnings that a start would print about the settings. */
  advice: readonly string[]
}
