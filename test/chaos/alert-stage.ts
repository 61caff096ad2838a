/** Four processes of a platform on one database, and ways to disturb each, for the test that provokes every alert. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { startMuteProxy } from '../support/mute-proxy.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from '../support/process.ts'
import { startSmtpServer } from '../support/smtp.ts'

type Names = 'desk' | 'worker' | 'apart' | 'beyond'

/** Starts the four processes. `apart` has a clock of its own, and `beyond` reaches the database through a proxy. */
export async function startStage(t: TestContext) {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'perkline-every-alert-'))
  await chmod(folder, 0o755)
  const smtp = await startSmtpServer()
  const proxy = await startMuteProxy(database.url)
  const clock = join(folder, 'clock')
  await writeFile(clock, '+0')
  const settings: Settings = {
    ...sharedSettings(database.url, folder),
    LOG_LEVEL: 'fatal',
    SMTP_URL: smtp.url,
    MAIL_FROM: 'shop@bank.example',
    SHUTDOWN_LIMIT: 'PT2S',
  }
  const faked = {
    LD_PRELOAD: '/usr/$LIB/faketime/libfaketime.so.1',
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
  }
  const own: Record<Names, { settings: Settings; only: string }> = {
    desk: { settings: {}, only: 'auth,esim,partner,admin' },
    worker: { settings: {}, only: 'worker' },
    beyond: { settings: { DATABASE_URL: proxy.url }, only: 'auth' },
    apart: { settings: { ...faked, FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' }, only: 'auth' },
  }
  const running = new Map<Names, PerklineProcess>()
  const ports: number[] = []
  for (const one of Object.values(own)) {
    const [port, metrics] = [await freePort(), await freePort()]
    ports.push(metrics)
    Object.assign(one.settings, { PORT: String(port), METRICS_PORT: String(metrics) })
  }
  const start = async (name: Names) => {
    const { settings: ofItself, only } = own[name]
    running.set(name, await startProcess({ ...settings, ...ofItself }, undefined, ['serve', '--only', only]))
  }
  const kill = async (name: Names) => {
    await running.get(name)?.kill()
    running.delete(name)
  }
  const names = Object.keys(own) as Names[]
  t.after(async () => {
    for (const name of names) await kill(name)
    await smtp.close()
    await proxy.close()
    await database.close()
    await rm(folder, { recursive: true, force: true })
  })
  for (const name of names) await start(name)
  const at = (name: Names): Pick<PerklineProcess, 'call' | 'admin'> => ({
    call: (...args) => (running.get(name) as PerklineProcess).call(...args),
    admin: (...args) => (running.get(name) as PerklineProcess).admin(...args),
  })
  const setClock = (text: string) => writeFile(clock, text)
  return { database, proxy, ports, smtp, names, start, kill, at, setClock, settings }
}
