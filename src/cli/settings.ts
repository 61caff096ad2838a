/** The command `perkline help settings`. */
import { settingsHelp } from '../settings/help.ts'
import { type OutputOptions, print, table } from './output.ts'

/** `perkline help settings`: lists every environment variable with its default. */
export function showSettings(options: OutputOptions): void {
  const rows = settingsHelp.map(({ name, byDefault, meaning }) => [name, byDefault, meaning])
  print(options, settingsHelp, [
    'Settings are environment variables. serve and migrate also read a file .env in the working folder (see .env.example).',
    '',
    ...table(['SETTING', 'DEFAULT', 'MEANING'], rows),
    '',
    'The other commands read OPERATOR_KEY, OPERATOR_KEY_FILE, ALLOW_PLAINTEXT, DATA_DIR and:',
    '',
    ...table(['SETTING', 'DEFAULT', 'MEANING'], clientRows),
  ])
}

const clientRows = [['PERKLINE_URL', 'http://127.0.0.1:8080', 'address of the running platform']]
