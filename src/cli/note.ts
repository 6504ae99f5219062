/**
 * `--note`, the text that an order leaves in the audit. It was spelled `--reason`, which is now only the filter on the
 * reason an event was ignored for. The old spelling still works where it cannot mean the filter.
 */
import { type Command, Option } from 'commander'
import { ignoredReasons } from '../model.js'
import { UsageError } from './failure.js'
import type { Output } from './output.js'

export interface NoteOptions {
  readonly note?: string | undefined
  /** The filter, or the old spelling of the note. */
  readonly reason?: string | undefined
}

/** `oldSpelling` for commands without a filter on the reason: they still take --reason for the note. */
export function addNoteOption(command: Command, { oldSpelling = false } = {}): Command {
  command.option('--note <text>', 'a note, for the audit')
  return oldSpelling
    ? command.addOption(new Option('--reason <text>', 'the old spelling of --note').hideHelp())
    : command
}

/** For commands without a filter on the reason. */
export function noteOf(output: Output, { note, reason }: NoteOptions): string | undefined {
  if (reason === undefined) return note
  if (note !== undefined) throw new UsageError('--reason is the old spelling of --note: give only --note.')
  output.say('--reason is the old spelling: use --note for the text in the audit.')
  return reason
}

/** For orders on events that are named by id: a filter selects nothing there, so --reason can be the old note. */
export function noteForIds(output: Output, { note, reason }: NoteOptions): string | undefined {
  if (reason !== undefined && (note !== undefined || isReason(reason)))
    throw new UsageError(
      '--reason selects events by the reason they were ignored for, and these events are named by id: leave it out. For the audit, use --note.',
    )
  return noteOf(output, { note, reason })
}

/**
 * For orders on a filter. --reason alone, with a text that hookonce never gives as a reason and no --state ignored, looks
 * like the old note: as a filter it would select nothing, and as a note it would select too much.
 */
export function noteForFilter({
  note,
  reason,
  state,
}: NoteOptions & { state?: string | undefined }): string | undefined {
  if (reason !== undefined && note === undefined && state !== 'ignored' && !isReason(reason))
    throw new UsageError(
      '--reason has two possible meanings here. For the audit, use --note. To select events that were ignored for this reason, use --state ignored --reason.',
    )
  return note
}

function isReason(text: string): boolean {
  return (ignoredReasons as readonly string[]).includes(text)
}
