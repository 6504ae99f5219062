import type { EventFilter } from '../../model.js'
import { hintOf } from '../../nearest.js'
import { defined } from '../../options.js'
import type { Output } from '../output.js'
import { printable } from '../terminal-text.js'
import type { EventLog } from './event-log.js'

/** Newest events that are read for the labels of a reference. */
const READ = 100

type Names = Pick<EventFilter, 'source' | 'reference' | 'label'>

/** For a filter that nothing matches: says which of its names is in no event. */
export async function sayWhyNone(output: Output, log: EventLog, filter: Names): Promise<void> {
  // Only a hint: the command has done its work.
  const why = await whyNone(log, filter).catch(() => null)
  if (why !== null) output.say(printable(why))
}

/** Null when each of the names is in some event. */
async function whyNone(log: EventLog, { source, reference, label }: Names): Promise<string | null> {
  if (source !== undefined) {
    const known = await log.sources()
    if (!known.includes(source))
      return `The log has no event of a source "${source}" (${hintOf(source, known)}).`
  }
  if (reference === undefined || label === undefined) return null
  const about = defined({ source, reference })
  const exact = await log.list({ ...about, label }, { limit: 1, cursor: null })
  if (exact.events.length > 0 || exact.cut) return null
  const { events } = await log.list(about, { limit: READ, cursor: null })
  if (events.length === 0) return `No event has the reference "${reference}", with any label.`
  const labels = new Set(
    events
      .flatMap(({ references }) => references.filter(({ value }) => value === reference))
      .map(({ label }) => label),
  )
  const has =
    labels.size === 0 ? 'no label' : `the label ${[...labels].map((one) => `"${one}"`).join(' or ')}`
  return `The reference "${reference}" has ${has} in the log, and never "${label}".`
}
