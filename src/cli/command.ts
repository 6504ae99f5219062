/** All commands get their help, `--json` and exit codes here. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { readEnvFile } from './env-file.js'
import { type Declared, type OptionsOf, optionOf } from './options.js'
import { createOutput, type Output } from './output.js'

interface CommandDefinition<Options extends Declared> {
  /** Only for commands in a group: `program.ts` has the others. */
  readonly summary?: string
  /** Default: the summary as a sentence. */
  readonly description?: string
  readonly examples: readonly string[]
  readonly options?: Options
  /** May return an exit code. */
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

/** `usage` is the name and the arguments: `send <provider> [type]`. */
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
  // Commander passes the arguments, the options and the command.
  command.action(async (...received: unknown[]) => {
    const given = received.at(-2) as OptionsOf<Options> & { readonly json?: boolean }
    const output = createOutput(given.json === true)
    process.exitCode = (await run({ options: given, output }, ...received.slice(0, -2))) ?? 0
  })
}

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

/** SIGINT and SIGTERM abort it. */
export function interruptible(): AbortController {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort()).once('SIGTERM', () => controller.abort())
  return controller
}

/** Ends early, without an error, when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
