/** Checks that the mail server and Redis answer and accept requests. */
import { createTransport } from 'nodemailer'
import { type Finding, failed, passed } from './doctor-finding.ts'

const answerWithinMs = 5_000

/** Checks the mail server: connects and logs in, but sends no message. */
export async function smtpFinding(smtpUrl: string | null): Promise<Finding> {
  if (smtpUrl === null) return passed('mail', 'SMTP_URL is not set: no e-mail leaves the platform')
  const limits = { connectionTimeout: answerWithinMs, greetingTimeout: answerWithinMs, socketTimeout: answerWithinMs }
  const address = new URL(smtpUrl)
  for (const [name, value] of Object.entries(limits)) address.searchParams.set(name, String(value))
  const transport = createTransport(address.href)
  try {
    await transport.verify()
    return passed('mail', `the mail server at ${address.host} takes the login`)
  } catch (error) {
    const { code = 'no answer', responseCode } = error as { code?: string; responseCode?: number }
    const detail = `the mail server at ${address.host} refuses or does not answer (${[code, responseCode].filter(Boolean).join(' ')})`
    return failed(
      'mail',
      detail,
      'Check host, port, user and password of SMTP_URL, and that TLS is what the server speaks there',
    )
  } finally {
    transport.close()
  }
}

export async function redisFinding(redisUrl: string | null): Promise<Finding> {
  if (redisUrl === null) return passed('redis', 'REDIS_URL is not set: each process limits by itself')
  const { Redis } = await import('ioredis')
  const options = {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    connectTimeout: answerWithinMs,
    // This option ends the wait for a server that accepts the connection but sends nothing.
    commandTimeout: answerWithinMs,
    retryStrategy: () => null,
  }
  const redis = new Redis(redisUrl, options)
  // `connect` fails only with the message that the connection is closed. This event has the reason.
  let reason: Error | undefined
  redis.on('error', error => {
    reason = error
  })
  const { host } = new URL(redisUrl)
  try {
    await redis.connect()
    await redis.ping()
    return passed('redis', `Redis at ${host} answers`)
  } catch (error) {
    return failed(
      'redis',
      `Redis at ${host} refuses or does not answer (${(reason ?? (error as Error)).message})`,
      'Check host, port and password of REDIS_URL; meanwhile each process limits by itself',
    )
  } finally {
    redis.disconnect()
  }
}
