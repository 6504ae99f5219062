/** Exit code 2 is a wrong call, 1 a call that did not work. */
import { CommanderError } from 'commander'
import { isHookonceError } from '../errors.js'

/** The command was called wrongly. The message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The call was correct and did not work. The message says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

interface Ending {
  readonly exitCode: 0 | 1 | 2
  /** Empty when a message has been printed already. */
  readonly message: string
}

export function endingOf(error: unknown): Ending {
  // Commander has printed its own message, or the help that was requested.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, message: '' }
  if (error instanceof UsageError) return { exitCode: 2, message: error.message }
  if (isHookonceError(error, 'LISTEN_FAILED'))
    return {
      exitCode: 1,
      message: `${error.message} On the command line: --port, or --port 0 for any free port.`,
    }
  if (error instanceof Failure || isHookonceError(error)) return { exitCode: 1, message: error.message }
  return { exitCode: 1, message: `${firstSentence(error)} Set HOOKONCE_DEBUG=1 to see the stack trace.` }
}

export function firstSentence(error: unknown): string {
  const text =
    (error instanceof Error ? error.message : String(error)).split('\n')[0]!.trim() || 'The command failed'
  return /[.!?]$/.test(text) ? text : `${text}.`
}
