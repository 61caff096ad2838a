/** Declares commands to commander, the library that parses command lines, and rewords its messages. */
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { CommandError } from './failure.ts'
import type { OutputOptions } from './output.ts'

type Work<T> = (options: T, args: [string, ...string[]]) => void | Promise<void>

/**
 * Makes the action of a command.
 *
 * @param work gets the options and the arguments. Its usage errors are shown in the same form as commander's own errors
 */
export function run<T extends OutputOptions = OutputOptions>(work: Work<T>) {
  return async (...args: unknown[]): Promise<void> => {
    const command = args.at(-1) as Command
    try {
      await work(command.optsWithGlobals<T>(), command.args as [string, ...string[]])
    } catch (error) {
      if (error instanceof CommandError && error.exitCode === 2) command.error(error.message)
      throw error
    }
  }
}

/**
 * Adds `--json` to every command, and accepts it before or after the command's name. Each usage error points to the
 * right help.
 */
export function finish(command: Command, path: string): void {
  for (const option of command.options) if (option.required) refuseSecond(command, option)
  command.option('--json', 'print one JSON value and nothing else')
  command.showHelpAfterError(`See: ${path} --help`)
  command.helpOption('-h, --help', 'show help')
  for (const sub of command.commands) {
    sub.helpCommand(false)
    finish(sub, `${path} ${sub.name()}`)
  }
}

/**
 * Refuses a second value of an option. Otherwise the last value would be used, and nobody would notice that the first
 * one is ignored.
 */
function refuseSecond(command: Command, option: Option): void {
  let isGiven = false
  command.on(`option:${option.name()}`, () => {
    if (isGiven) command.error(`error: option '${option.flags}' must be given once`)
    isGiven = true
  })
}

/** Parses an option or argument that must not be empty. */
export function filled(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.')
  return value
}

/**
 * Parses a type, or `type:id`. An empty part, for example from an unset variable of a script, is refused. Otherwise the
 * search would find nothing, and the user could take that for a good result.
 */
export function typeOrObject(value: string): string {
  if (/^:|:$/.test(filled(value)))
    throw new InvalidArgumentError('It must have a type and an id, like TYPE:ID, or only a type.')
  return value
}

/** Parses a number of seconds. */
export function wholeSeconds(value: string): number {
  if (!/^\d{1,5}$/.test(value)) throw new InvalidArgumentError('It must be a whole number of seconds, like 60.')
  return Number(value)
}

/** Parses a comma-separated list of names of services. All of them must be in `known`. */
export const someOf = (known: readonly string[]) => (value: string) => {
  const unknown = value.split(',').filter(name => !known.includes(name.trim()))
  if (unknown.length > 0) throw new InvalidArgumentError(`It must name some of ${known.join(', ')}.`)
  return value
}

export const examples = (...commands: string[]): string =>
  `\nExamples:\n${commands.map(command => `  perkline ${command}`).join('\n')}`

/** Returns how the help lists a command: by its name and its required arguments. */
export const term = (command: Command): string =>
  `${command.name()} ${command.usage().replace('[options]', '').replace('[command]', 'COMMAND').trim()}`.trim()

/** Turns commander's "error: unknown command 'x'" into a sentence. */
export function sentence(text: string): string {
  const plain = text.replace(/^error: /, '')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

/** Shows the help of the command with these names. */
export function showHelp(program: Command, names: readonly string[]): void {
  let command = program
  for (const name of names) {
    const found = command.commands.find(candidate => candidate.name() === name)
    if (!found) throw new CommandError(`There is no command ${names.join(' ')}.`, 2)
    command = found
  }
  command.outputHelp()
}
