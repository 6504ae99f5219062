/** From the options and arguments of a command to its log and its events. */
import { isLoopbackHost } from '../../ip.js'
import type { EventKey } from '../../model.js'
import { readToken } from '../dev/folder.js'
import { Failure, UsageError } from '../failure.js'
import { openExistingStore } from '../store.js'
import { printable } from '../terminal-text.js'
import { createApi } from './api.js'
import type { EventLog, EventView } from './event-log.js'
import type { LogOptions } from './options.js'
import { serverLog } from './server-log.js'
import { storeLog } from './store-log.js'

export async function openLog(options: LogOptions): Promise<EventLog> {
  if (options.store !== undefined && options.server !== undefined)
    throw new UsageError('--store and --server cannot be used together. Give the one that has the log.')
  const server = options.server ?? (options.store === undefined ? process.env.HOOKONCE_SERVER : undefined)
  if (server)
    return serverLog(createApi(server, options.token ?? process.env.HOOKONCE_TOKEN ?? tokenOfDev(server)))
  return storeLog(await openExistingStore(options.store, '--store or --server'))
}

/** Only a server on this machine gets the token of `hookonce dev`. */
function tokenOfDev(server: string): string | undefined {
  const isHere = URL.canParse(server) && isLoopbackHost(new URL(server).hostname)
  return (isHere && readToken()) || undefined
}

/** Finds an event by its id, or by its source and id with a slash between them. */
export async function findEvent(log: EventLog, text: string, source: string | undefined): Promise<EventView> {
  if (source !== undefined) {
    const event = await log.get({ source, id: text })
    if (event) return event
    throw notFound(log, text, source)
  }
  const { events } = await log.list({ id: text }, { limit: 10, cursor: null })
  if (events.length > 1) {
    const names = events.map((event) => `${event.source}/${event.id}`).join(', ')
    throw new Failure(
      `Several sources have an event "${printable(text)}": ${printable(names)}. Choose one with --source.`,
    )
  }
  if (events[0]) return events[0]
  const slash = text.indexOf('/')
  if (slash > 0) {
    const event = await log.get({ source: text.slice(0, slash), id: text.slice(slash + 1) })
    if (event) return event
  }
  throw notFound(log, text, undefined)
}

export function eventKey(event: EventView): EventKey {
  return { source: event.source, id: event.id }
}

function notFound(log: EventLog, text: string, source: string | undefined): Failure {
  const where = source === undefined ? log.name : `source "${printable(source)}" of ${log.name}`
  return new Failure(
    `There is no event "${printable(text)}" in ${where}. hookonce events list shows the events; retention may have deleted this one.`,
  )
}

/** The position before the first event that was received since `since`. */
export async function positionBefore(log: EventLog, since: number): Promise<number> {
  let oldest: number | null = null
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<EventLog['list']>> = await log.list(
      { from: since },
      { limit: 500, cursor },
    )
    oldest = page.events.at(-1)?.seq ?? oldest
    cursor = page.next
  } while (cursor !== null)
  return oldest === null ? newestPosition(log) : oldest - 1
}

export async function newestPosition(log: EventLog): Promise<number> {
  const { events } = await log.list({}, { limit: 1, cursor: null })
  return events[0]?.seq ?? 0
}
