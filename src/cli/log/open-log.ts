import { isLoopbackHost } from '../../ip.js'
import type { EventFilter } from '../../model.js'
import { readToken } from '../dev/folder.js'
import { Failure, UsageError } from '../failure.js'
import { openExistingStore } from '../store.js'
import { printable } from '../terminal-text.js'
import { type Api, createApi } from './api.js'
import type { EventLog, EventView } from './event-log.js'
import type { LogOptions } from './options.js'
import { serverLog } from './server-log.js'
import { storeLog } from './store-log.js'

export async function openLog(options: LogOptions): Promise<EventLog> {
  if (options.store !== undefined && options.server !== undefined)
    throw new UsageError('--store and --server cannot be used together. Give the one that has the log.')
  const server = options.server ?? (options.store === undefined ? process.env.HOOKONCE_SERVER : undefined)
  if (server) return serverLog(serverApi(server))
  return storeLog(await openExistingStore(options.store, '--store or --server'))
}

export function serverApi(server: string): Api {
  return createApi(server, process.env.HOOKONCE_TOKEN ?? tokenOfDev(server))
}

/** Only a server on this machine gets the token of `hookonce dev`. */
function tokenOfDev(server: string): string | undefined {
  const isHere = URL.canParse(server) && isLoopbackHost(new URL(server).hostname)
  return (isHere && readToken()) || undefined
}

/** `text` is an event id, or `source/id`. */
export async function findEvent(log: EventLog, text: string): Promise<EventView> {
  const { events } = await log.list({ id: text }, { limit: 10, cursor: null })
  if (events.length > 1) {
    const names = events.map((event) => `${event.source}/${event.id}`).join(', ')
    throw new Failure(
      `Several sources have an event "${printable(text)}": ${printable(names)}. Name one of these.`,
    )
  }
  if (events[0]) return events[0]
  const slash = text.indexOf('/')
  if (slash > 0) {
    const event = await log.get({ source: text.slice(0, slash), id: text.slice(slash + 1) })
    if (event) return event
  }
  throw new Failure(
    `There is no event "${printable(text)}" in ${log.name}. hookonce events list shows the events; retention may have deleted this one.`,
  )
}

/** Newest first. A page may be empty, because a store ends a long search early. */
export async function* pagesOf(log: EventLog, filter: EventFilter): AsyncGenerator<readonly EventView[]> {
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<EventLog['list']>> = await log.list(filter, { limit: 500, cursor })
    yield page.events
    cursor = page.next
  } while (cursor !== null)
}

export async function positionBefore(log: EventLog, since: number): Promise<number> {
  let oldest: EventView | undefined
  for await (const events of pagesOf(log, { from: since })) oldest = events.at(-1) ?? oldest
  return oldest === undefined ? newestPosition(log) : oldest.seq - 1
}

export async function newestPosition(log: EventLog): Promise<number> {
  const { events } = await log.list({}, { limit: 1, cursor: null })
  return events[0]?.seq ?? 0
}
