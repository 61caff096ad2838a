/** Connects services outside the platform: mail server, shared limits, certificate authorities. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { checkAnchorFile } from '../audit-log/anchor-file.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Database } from '../db/database.ts'
import { createFileMailer, createNoMailer, type Mailer } from '../esim/delivery/mail.ts'
import { createLocalRateLimiter, type RateLimit } from '../http/limits/rate-limit.ts'
import type { Logger } from '../log.ts'
import { canMailQrCodes, findMailedBanks } from '../partners/mailed-banks.ts'
import type { PeoplePost } from '../people/mail/mails.ts'
import { createFilePost, createServerPost } from '../people/mail/post.ts'
import { createLocalCounter } from '../work/local-counter.ts'

const mailTimeoutMs = 10_000
const sandboxSender = 'Perkline sandbox <sandbox@perkline.example>'

/**
 * Returns the function that sends mails to people through the mail server. Without a mail server, a sandbox writes them
 * to a folder, and live mode sends none.
 */
export async function createPeoplePost(
  config: Config,
  logger: Logger,
): Promise<{ post: PeoplePost | null; close(): Promise<void> }> {
  const { smtpUrl } = config
  const from = config.mailFrom ?? sandboxSender
  if (smtpUrl !== null)
    return createServerPost({
      smtpUrl,
      from,
      timeoutMs: mailTimeoutMs,
      log: event => logger.info(event, 'e-mail'),
    })
  const directory = join(config.dataDir, 'mail')
  return { post: config.mode === 'live' ? null : createFilePost({ directory, from }), async close() {} }
}

/**
 * Returns the default certificate authorities and those of WEBHOOK_CA_FILE; null when only the default ones are used.
 */
export async function readAuthorities(caFile: string | null): Promise<string[] | null> {
  if (caFile === null) return null
  const own = await readFile(caFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`WEBHOOK_CA_FILE can't be read: ${error.code}`])
  })
  // The end of a certificate is optional in this pattern. So a certificate without an end is found too, and
  // `isCertificate` then refuses it.
  const certificates = own.match(/-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----(?:[^-]*-----END \1-----)?/g) ?? []
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw new ConfigError(['WEBHOOK_CA_FILE must hold certificates in PEM form, at least one, each of them valid'])
  return [...rootCertificates, ...certificates]
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem)
    return true
  } catch {
    return false
  }
}

/** Errors that a wrong setting causes: the path is a folder, or contains a file where a folder must be. */
const wrongPath = ['EISDIR', 'ENOTDIR']

/**
 * Checks whether checkpoints can be appended to AUDIT_ANCHOR_FILE. If not, the start continues: a network disk may be
 * missing or read-only, and nothing else needs the file (contract/reliability.md, "When something is away").
 *
 * @throws ConfigError when the path cannot be the path of a file
 */
export async function expectAnchorFile(file: string | null, logger: Logger): Promise<void> {
  if (file === null) return
  await checkAnchorFile(file).catch((error: NodeJS.ErrnoException) => {
    if (wrongPath.includes(error.code ?? ''))
      throw new ConfigError([`AUDIT_ANCHOR_FILE must be the path of a file (${error.code})`])
    logger.error(
      { err: error },
      'AUDIT_ANCHOR_FILE cannot be written now: checkpoints are only in the database and in this log until it can',
    )
  })
}

/** Creates the mailer for QR codes. @throws ConfigError in live mode, when a bank needs e-mail and no server is set */
export async function createMailer(config: Config, database: Database, logger: Logger): Promise<Mailer> {
  const from = config.mailFrom ?? sandboxSender
  if (config.smtpUrl !== null) {
    const { createSmtpMailer } = await import('../esim/delivery/smtp-mailer.ts')
    return createSmtpMailer({
      smtpUrl: config.smtpUrl,
      from,
      timeoutMs: mailTimeoutMs,
      log: event => logger.info(event, 'e-mail'),
    })
  }
  if (!canMailQrCodes(config)) {
    const codes = await findMailedBanks(database)
    if (codes.length > 0)
      throw new ConfigError([
        `SMTP_URL and MAIL_FROM are required: these banks deliver by qr_email: ${codes.join(', ')}`,
      ])
    return createNoMailer(() => logger.error('an e-mail could not be sent: SMTP_URL and MAIL_FROM are required'))
  }
  return createFileMailer({ directory: join(config.dataDir, 'mail'), from })
}

/**
 * Creates rate limits and counters. With REDIS_URL all processes share them; without it, each process has its own.
 */
export async function createLimits(config: Config, logger: Logger) {
  const { rateLimit, apiRateLimit, redisUrl } = config
  if (redisUrl === null) {
    return {
      rateLimiter: rateLimit && createLocalRateLimiter(rateLimit),
      accountLimiter: apiRateLimit && createLocalRateLimiter(apiRateLimit),
      counter: createLocalCounter,
      isShared: () => false,
      close: async () => {},
    }
  }
  const { createSharedCounter, createSharedRateLimiter } = await import('../http/limits/shared-limits.ts')
  const away = new Set<string>()
  const shareWith = (api: string, limit: RateLimit | null) =>
    limit &&
    createSharedRateLimiter({
      redisUrl,
      limit,
      onAway(isAway) {
        if (isAway) away.add(api)
        else away.delete(api)
        if (isAway) logger.warn({ api }, 'the shared rate limit store is unreachable: each process limits by itself')
        else logger.info({ api }, 'the shared rate limit store is back')
      },
    })
  const rateLimiter = shareWith('esim', rateLimit)
  const accountLimiter = shareWith('others', apiRateLimit)
  const shared = createSharedCounter(redisUrl)
  return {
    rateLimiter,
    accountLimiter,
    counter: shared.counter,
    isShared: () => away.size === 0,
    async close() {
      shared.close()
      await Promise.all([rateLimiter?.close(), accountLimiter?.close()])
    },
  }
}
