/** The platform as its users run it: a process of its own, `bin/perkline serve`. */
import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/free-port.ts'
import { stopProcess, untilAnswered } from './processes.ts'

export type PlatformProcess = { port: number; url: string; child: ChildProcess; stop(): Promise<void> }

const program = fileURLToPath(new URL('../bin/perkline', import.meta.url))

/**
 * Starts the platform and waits until it is ready.
 *
 * @param settings environment variables of the platform. From this process it inherits only the PATH
 */
export async function startPlatform(settings: Record<string, string>): Promise<PlatformProcess> {
  const port = await freePort()
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    PERKLINE_MODE: 'sandbox',
    RATE_LIMIT: '0',
    API_RATE_LIMIT: '0',
    OPEN_RESERVATIONS: '100000000',
    SAMPLE_DATA: '0',
    LOG_LEVEL: 'warn',
    ...(process.env.BENCH_NODE_OPTIONS && { NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS }),
    ...settings,
  }
  // The platform starts in a folder without a `.env` file, because such a file would change what is measured.
  const child = spawn(program, ['serve'], { env, cwd: settings.DATA_DIR, stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  try {
    await untilAnswered(child, `${url}/health/ready`, [200])
  } catch (error) {
    await stopProcess(child)
    throw error
  }
  return { port, url, child, stop: () => stopProcess(child) }
}
