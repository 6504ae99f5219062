import {
  type ActionRefusal,
  type ActionResult,
  actionRefusals,
  type EventFilter,
  type EventKey,
} from '../../model.js'
import type { BulkOptions, BulkResult } from '../../processing/actions.js'
import type { ActionView } from '../../server/admin/actions.js'
import type { PayloadAnswer } from '../../server/admin/views.js'
import { pause } from '../command.js'
import { Failure } from '../failure.js'
import { type Api, ApiProblem, frames, Unreachable } from './api.js'
import type {
  EventLog,
  EventView,
  Followed,
  FollowOptions,
  PauseView,
  PayloadView,
  Verb,
} from './event-log.js'

export function serverLog(api: Api): EventLog {
  const pathOf = ({ source, id }: EventKey) =>
    `/api/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`

  async function payload(key: EventKey, note: string): Promise<PayloadView | null> {
    const path = `${pathOf(key)}/payload?${query({ note: note || undefined })}`
    const found = await orNull(api.json<PayloadAnswer>('GET', path), 'PAYLOAD_REMOVED')
    return found && { headers: found.headers, part: found.part, body: Buffer.from(found.body, 'base64') }
  }

  async function providers(): Promise<Record<string, string>> {
    const { sources } = await api.json<{ sources: { name: string; provider: { key: string } }[] }>(
      'GET',
      '/api/sources',
    )
    return Object.fromEntries(sources.map(({ name, provider }) => [name, provider.key]))
  }

  return {
    name: api.url,
    list: (filter, { limit, cursor }) =>
      api.json('GET', `/api/events?${query({ ...filter, limit, cursor })}`),
    get: (key) => orNull(api.json<EventView>('GET', pathOf(key)), 'EVENT_NOT_FOUND'),
    attempts: async (key) => (await api.json<{ attempts: [] }>('GET', `${pathOf(key)}/attempts`)).attempts,
    deadLetters: ({ source }) => api.json('GET', `/api/dead-letters?${query({ source })}`),
    payloads: (keys, note) => Promise.all(keys.map((key) => payload(key, note))),
    async sources() {
      const [configured, stats] = await Promise.all([
        providers(),
        api.json<{ sources: { source: string }[] }>('GET', '/api/stats'),
      ])
      return [...new Set([...Object.keys(configured), ...stats.sources.map(({ source }) => source)])]
    },
    providers,
    follow: (options) => follow(api, options),
    async act(verb, key, { note, force, dryRun, conflict, effects }): Promise<ActionResult> {
      try {
        return await api.json('POST', `${pathOf(key)}/${verb}`, { note, force, dryRun, conflict, effects })
      } catch (error) {
        if (error instanceof ApiProblem && actionRefusals.includes(error.code as ActionRefusal))
          return { done: false, code: error.code as ActionRefusal }
        throw error
      }
    },
    pauses: async () => (await api.json<{ pauses: PauseView[] }>('GET', '/api/pauses')).pauses,
    async changePause(verb, { source, type }, note) {
      const body = { source, note, ...(type !== null && { type }) }
      return (await api.json<{ changed: boolean }>('POST', `/api/${verb}`, body)).changed
    },
    actOnEvents: (verb, filter, options) => actionAll(api, verb, filter, options),
    async [Symbol.asyncDispose]() {},
  }
}

async function actionAll(
  api: Api,
  verb: Verb,
  filter: EventFilter,
  options: BulkOptions,
): Promise<BulkResult> {
  const { note, force, dryRun, conflict, ratePerSecond: rate, signal, onProgress } = options
  const body = { verb, filter, note, force, dryRun, conflict, rate }
  let action = await api.json<ActionView>('POST', '/api/events/actions', body)
  while (action.state === 'running') {
    onProgress?.(action)
    await pause(200, signal ?? new AbortController().signal)
    action = await api.json<ActionView>(signal?.aborted ? 'DELETE' : 'GET', `/api/actions/${action.id}`)
  }
  onProgress?.(action)
  if (action.state === 'failed')
    throw new Failure(
      `The server stopped after ${action.done} events: ${action.problem}. Run the command again for the rest.`,
    )
  const { matched, done, refused } = action
  return { matched, done, refused }
}

const RECONNECT_MS = 500

async function* follow(api: Api, { after, source, signal }: FollowOptions): AsyncGenerator<Followed, void> {
  let position = after
  while (!signal.aborted) {
    try {
      const path = `/api/stream?${query({ source, after: position })}`
      const response = await api.open('GET', path, { signal, headers: { accept: 'text/event-stream' } })
      for await (const { event, id, data } of frames(response.body!, signal)) {
        if (event === 'gap') yield { events: [], position, gap: true }
        if (event === 'recorded') {
          const recorded = JSON.parse(data) as EventView
          // After a broken connection the server may send events again.
          if (recorded.seq <= position) continue
          position = recorded.seq
          yield { events: [recorded], position, gap: false }
        }
        if (id !== null && Number(id) > position) position = Number(id)
      }
    } catch (error) {
      if (signal.aborted) return
      // Connects again to a server that is down; other errors end the command.
      if (error instanceof Failure && !(error instanceof Unreachable)) throw error
    }
    await pause(RECONNECT_MS, signal)
  }
}

function query(values: Record<string, unknown>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  return new URLSearchParams(
    present.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
}

async function orNull<T>(answer: Promise<T>, code: string): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiProblem && error.code === code) return null
    throw error
  }
}
