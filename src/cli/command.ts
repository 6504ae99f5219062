/** How a command is declared, called and interrupted: the same help, `--json` and exit codes for all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { readEnvFile } from './env-file.js'
import { type Declared, type OptionsOf, optionOf } from './options.js'
import { createOutput, type Output } from './output.js'

interface CommandDefinition<Options extends Declared> {
  /** One line, for the list of commands. `program.ts` has those of the commands that are not in a group. */
  readonly summary?: string
  /** For the help of this command. Default: the summary as a sentence. */
  readonly description?: string
  /** At least one call that works as written. */
  readonly examples: readonly string[]
  readonly options?: Options
  /** The work of the command. A number that it returns is the exit code. */
  readonly run: (
    call: Call<OptionsOf<Options>>,
    // biome-ignore lint/suspicious/noExplicitAny: commander gives a string, a list or undefined, as the usage says
    ...args: any[]
    // biome-ignore lint/suspicious/noConfusingVoidType: most commands return no exit code
  ) => Promise<number | void>
}

export interface Call<Options> {
  readonly options: Options
  readonly output: Output
}

// biome-ignore lint/complexity/noBannedTypes: a command without options
type Nothing = {}

/** Adds a command that runs. `usage` is its name and arguments: `send <provider> [type]`. */
export function addCommand<Options extends Declared = Nothing>(
  parent: Command,
  usage: string,
  definition: CommandDefinition<Options>,
): void {
  const { summary = '', description = sentence(summary), examples, options = {}, run } = definition
  const command = parent
    .command(usage)
    .summary(summary)
    .description(description)
    .option('--json', 'print results as JSON on standard output')
    .option('--env-file <file>', 'read variables from this file; variables that are set win', readEnvFile)
    .addHelpText('after', `\nExamples\n${examples.map((example) => `  ${example}`).join('\n')}`)
  for (const [name, declared] of Object.entries<Declared[string]>(options))
    command.addOption(optionOf(name, declared))
  command.showHelpAfterError(`See ${pathOf(command)} --help.`)
  // Commander calls it with the arguments, the options and the command.
  command.action(async (...received: unknown[]) => {
    const given = received.at(-2) as OptionsOf<Options> & { readonly json?: boolean }
    const output = createOutput(given.json === true)
    process.exitCode = (await run({ options: given, output }, ...received.slice(0, -2))) ?? 0
  })
}

/** Adds a command that only groups others, such as `events`. */
export function addGroup(parent: Command, name: string): Command {
  const group = parent.command(name)
  return group.showHelpAfterError(`See ${pathOf(group)} --help.`)
}

export function sentence(summary: string): string {
  return summary && `${summary[0]!.toUpperCase()}${summary.slice(1)}.`
}

/** `hookonce events list` */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

/** SIGINT and SIGTERM abort it. For commands that stop between two steps. */
export function interruptible(): AbortController {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort()).once('SIGTERM', () => controller.abort())
  return controller
}

/** Ends early, without an error, when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
