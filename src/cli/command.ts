/** How a command is made: the same help, the same `--json`, the same way to end. */
import type { Command } from 'commander'
import { createOutput, type Output } from './output.js'

export interface CommandText {
  /** One line, for the list of commands. */
  readonly summary: string
  /** More, for its own help. */
  readonly description?: string
  /** At least one call that works as it stands. */
  readonly examples: readonly string[]
}

/** Adds a command that does something. `usage` is its name and arguments: `send <provider> [type]`. */
export function addCommand(parent: Command, usage: string, text: CommandText): Command {
  const command = parent
    .command(usage)
    .summary(text.summary)
    .description(text.description ?? text.summary)
    .option('--json', 'print results as JSON on standard output')
    .addHelpText('after', `\nExamples\n${text.examples.map((example) => `  ${example}`).join('\n')}`)
  return command.showHelpAfterError(`See ${pathOf(command)} --help.`)
}

/** Adds a command that only has others below it. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  const group = parent.command(name).summary(summary).description(summary)
  return group.showHelpAfterError(`See ${pathOf(group)} --help.`)
}

/** `hookonce events list` */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

export interface Call<Options> {
  readonly options: Options
  readonly output: Output
  readonly command: Command
}

/** What a command does. A number it returns is the exit code. */
export type Run<Options> = (
  call: Call<Options>,
  // biome-ignore lint/suspicious/noExplicitAny: commander gives a string, a list or undefined, as the usage says
  ...args: any[]
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands have nothing to say about their exit code
) => Promise<number | void>

/** Commander calls with the arguments, the options and the command. */
export function action<Options>(run: Run<Options>): (...received: unknown[]) => Promise<void> {
  return async (...received) => {
    const command = received.pop() as Command
    const options = received.pop() as Options & { readonly json?: boolean }
    const output = createOutput(options.json === true)
    process.exitCode = (await run({ options, output, command }, ...received)) ?? 0
  }
}
