/** How a command ends badly: 2 when it was called wrongly, 1 when what it was asked to do did not work. */
import { CommanderError } from 'commander'
import { isHookonceError } from '../errors.js'

/** The command was called wrongly. The message says how to call it rightly. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** It was called rightly and did not work. The message says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

export interface Ending {
  readonly exitCode: 0 | 1 | 2
  /** For standard error; empty when everything has been said. */
  readonly message: string
}

export function endingOf(error: unknown): Ending {
  // Commander has written its own message, or the help that was asked for.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, message: '' }
  if (error instanceof UsageError) return { exitCode: 2, message: error.message }
  if (isHookonceError(error, 'LISTEN_FAILED'))
    return { exitCode: 1, message: `${error.message} Here: --port, or --port 0 for any free one.` }
  if (error instanceof Failure || isHookonceError(error)) return { exitCode: 1, message: error.message }
  return { exitCode: 1, message: `${textOf(error)} Set HOOKONCE_DEBUG=1 to see where.` }
}

/** One sentence out of whatever was thrown. */
export function textOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).split('\n')[0]!.trim() || 'It failed'
  return /[.!?]$/.test(text) ? text : `${text}.`
}
