/** How commands are declared to commander, and how it speaks. */
import { type Command, InvalidArgumentError } from 'commander'
import { CommandError } from './failure.ts'
import type { OutputOptions } from './output.ts'

type Work<T> = (options: T, args: [string, ...string[]]) => void | Promise<void>

/**
 * The action of a command.
 *
 * @param work gets the options and the arguments; its faults of usage are told as commander tells its own
 */
export function run<T extends OutputOptions = OutputOptions>(work: Work<T>) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command
    try {
      await work(command.optsWithGlobals<T>(), command.args as [string, ...string[]])
    } catch (error) {
      if (error instanceof CommandError && error.exitCode === 2) command.error(error.message)
      throw error
    }
  }
}

/** Gives every command `--json`, before or behind its name, and points from each fault of usage to the right help. */
export function finish(command: Command, path: string): void {
  command.option('--json', 'print one JSON value and nothing else')
  command.showHelpAfterError(`See: ${path} --help`)
  command.helpOption('-h, --help', 'show help')
  for (const sub of command.commands) {
    sub.helpCommand(false)
    finish(sub, `${path} ${sub.name()}`)
  }
}

/** The value of an option or argument that must not be empty. */
export function filled(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.')
  return value
}

/** An option's value as a number of seconds. */
export function wholeSeconds(value: string): number {
  if (!/^\d{1,5}$/.test(value)) throw new InvalidArgumentError('It must be a whole number of seconds, like 60.')
  return Number(value)
}

/** Services' names with commas, each one of `known`. */
export const someOf = (known: readonly string[]) => (value: string) => {
  const unknown = value.split(',').filter(name => !known.includes(name.trim()))
  if (unknown.length > 0) throw new InvalidArgumentError(`It must name some of ${known.join(', ')}.`)
  return value
}

export const examples = (...commands: string[]): string =>
  `\nExamples:\n${commands.map(command => `  perkline ${command}`).join('\n')}`

/** How a list of commands shows one: its name and what it must be given. */
export const term = (command: Command): string =>
  `${command.name()} ${command.usage().replace('[options]', '').replace('[command]', 'COMMAND').trim()}`.trim()

/** Commander's "error: unknown command 'x'" as a sentence that begins like one. */
export function sentence(text: string): string {
  const plain = text.replace(/^error: /, '')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

/** Shows the help of the command that `names` lead to. */
export function showHelp(program: Command, names: readonly string[]): void {
  let command = program
  for (const name of names) {
    const found = command.commands.find(candidate => candidate.name() === name)
    if (!found) throw new CommandError(`There is no command ${names.join(' ')}.`, 2)
    command = found
  }
  command.outputHelp()
}
