/** The application name of each connection. It carries the version, so that others can see which versions are connected. */
import { version } from '../version.ts'

export const program = 'perkline'
export const applicationName = `${program}/${version}`
