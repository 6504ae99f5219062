/** From what a person types to the key of an event: an id, or a source and an id with a slash between. */
import type { EventKey } from '../../model.js'
import { Failure } from '../failure.js'
import { plain } from '../output.js'
import type { EventLog, EventView } from './event-log.js'

export async function findEvent(log: EventLog, text: string, source: string | undefined): Promise<EventView> {
  if (source !== undefined) {
    const event = await log.get({ source, eventId: text })
    if (event) return event
    throw notFound(log, text, source)
  }
  const { events } = await log.list({ eventId: text }, { limit: 10, cursor: null })
  if (events.length > 1) {
    const names = events.map((event) => `${event.source}/${event.id}`).join(', ')
    throw new Failure(
      `Several sources have an event "${plain(text)}": ${plain(names)}. Choose one with --source.`,
    )
  }
  if (events[0]) return events[0]
  const slash = text.indexOf('/')
  if (slash > 0) {
    const event = await log.get({ source: text.slice(0, slash), eventId: text.slice(slash + 1) })
    if (event) return event
  }
  throw notFound(log, text, undefined)
}

export function keyOf(event: EventView): EventKey {
  return { source: event.source, eventId: event.id }
}

function notFound(log: EventLog, text: string, source: string | undefined): Failure {
  const where = source === undefined ? log.name : `source "${plain(source)}" of ${log.name}`
  return new Failure(
    `There is no event "${plain(text)}" in ${where}. hookonce events list shows the events; retention may have removed this one.`,
  )
}
