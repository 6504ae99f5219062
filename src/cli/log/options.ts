/** Options that say which log a command is about. */
import type { Command } from 'commander'

export interface LogOptions {
  readonly store?: string
  readonly server?: string
  readonly token?: string
}

/** For commands that work on a store or through a server. */
export function addLogOptions(command: Command): Command {
  return addStoreOption(command)
    .option('--server <url>', 'use the API of this server instead of opening a store (HOOKONCE_SERVER)')
    .option('--token <token>', 'a token of that server (better: HOOKONCE_TOKEN)')
}

export function addStoreOption(command: Command): Command {
  return command.option(
    '--store <url>',
    `sqlite:path or postgres://user@host/db (HOOKONCE_STORE; default sqlite:.hookonce/events.db)`,
  )
}
