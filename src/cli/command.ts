/** How a command is declared, called and interrupted: the same help, `--json` and exit codes for all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { readEnvFile } from './env-file.js'
import { createOutput, type Output } from './output.js'

interface CommandText {
  /** One line, for the list of commands. `program.ts` has those of the commands that are not in a group. */
  readonly summary?: string
  /** For the help of this command. Default: the summary as a sentence. */
  readonly description?: string
  /** At least one call that works as written. */
  readonly examples: readonly string[]
}

/** Adds a command that runs. `usage` is its name and arguments: `send <provider> [type]`. */
export function addCommand(parent: Command, usage: string, text: CommandText): Command {
  const command = parent
    .command(usage)
    .summary(text.summary ?? '')
    .description(text.description ?? sentence(text.summary ?? ''))
    .option('--json', 'print results as JSON on standard output')
    .option('--env-file <file>', 'read variables from this file; variables that are set win', readEnvFile)
    .addHelpText('after', `\nExamples\n${text.examples.map((example) => `  ${example}`).join('\n')}`)
  return command.showHelpAfterError(`See ${pathOf(command)} --help.`)
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

export interface Call<Options> {
  readonly options: Options
  readonly output: Output
  readonly command: Command
}

/** The work of a command. A number that it returns is the exit code. */
export type Run<Options> = (
  call: Call<Options>,
  // biome-ignore lint/suspicious/noExplicitAny: commander gives a string, a list or undefined, as the usage says
  ...args: any[]
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return no exit code
) => Promise<number | void>

/** Commander calls the result with the arguments, the options and the command. */
export function action<Options>(run: Run<Options>): (...received: unknown[]) => Promise<void> {
  return async (...received) => {
    const command = received.pop() as Command
    const options = received.pop() as Options & { readonly json?: boolean }
    const output = createOutput(options.json === true)
    process.exitCode = (await run({ options, output, command }, ...received)) ?? 0
  }
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
