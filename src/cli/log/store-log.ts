import { userInfo } from 'node:os'
import { sealingKeyId } from '../../encryption/seal.js'
import { insistOnKnown, sourcesInLog } from '../../inbox/pauses.js'
import type { EventKey } from '../../model.js'
import { defined } from '../../options.js'
import { actOnEvent, actOnEvents } from '../../processing/actions.js'
import { waitingOf } from '../../processing/waiting.js'
import { errorGroups, groupView } from '../../server/admin/dead-letters.js'
import { attemptView, eventView, pauseView, withInstants } from '../../server/admin/views.js'
import { need, type Payload, type Store } from '../../store.js'
import { pause } from '../command.js'
import { Failure } from '../failure.js'
import type { EventLog, Followed, FollowOptions } from './event-log.js'

const PAGE = 200
/** Some stores do not notify. */
const POLL_MS = 1_000

/** A process that can open the store can read everything in it, so errors and reasons are shown in full. */
export function storeLog(store: Store): EventLog {
  const actor = actorName()
  const inspect = () => need(store, 'inspect', 'showing payloads and attempts')
  const pauses = () => need(store, 'pauses', 'hookonce pause')
  // The audit of several reads is one commit.
  async function payloads(keys: readonly EventKey[], note: string): Promise<(Payload | null)[]> {
    const audit = need(store, 'audit', 'showing payloads')
    const found = await Promise.all(keys.map((key) => inspect().payload(key)))
    for (const [i, payload] of found.entries()) insistOnReadable(keys[i]!, payload)
    const read = keys.filter((_, i) => found[i] !== null)
    if (read.length > 0)
      await audit.append(
        read.map(({ source, id }) => ({ actor, verb: 'payload', source, eventId: id, note })),
      )
    return found
  }

  return {
    name: store.name,
    async list(filter, page) {
      const { events, next, cut = false } = await store.list(filter, page)
      const waiting = await waitingOf(store, events)
      return { events: events.map((event, i) => eventView(event, true, waiting[i])), next, cut }
    },
    async get(key) {
      const event = await store.get(key)
      if (event === null) return null
      const [waiting] = await waitingOf(store, [event])
      return eventView(event, true, waiting)
    },
    attempts: async (key) => (await inspect().attempts(key)).map((attempt) => attemptView(attempt, true)),
    async deadLetters({ source }) {
      const { groups, cut } = await errorGroups(inspect(), source)
      return { groups: groups.map((group) => withInstants(groupView(group, true))), cut }
    },
    payloads,
    sources: () => sourcesInLog(store),
    // `hookonce dev` names each source after its provider.
    providers: async () => ({}),
    follow: (options) => follow(store, options),
    act: (verb, key, options) => actOnEvent(store, verb, key, { actor, ...options }),
    pauses: async () => (await pauses().list()).map((pause) => pauseView(pause, true)),
    async changePause(verb, { source, type }, note) {
      if (verb === 'pause') await insistOnKnown(store, source, [])
      return pauses()[verb]({ source, type, actor, note })
    },
    actOnEvents: (verb, filter, options) => actOnEvents(store, verb, filter, { actor, ...options }),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

async function* follow(
  store: Store,
  { after, source, signal }: FollowOptions,
): AsyncGenerator<Followed, void> {
  let position = after
  let wake = () => {}
  const unsubscribe = await store.subscribe(() => wake())
  try {
    while (!signal.aborted) {
      const notified = new Promise<void>((resolve) => {
        wake = resolve
      })
      const page = await store.tail({
        after: position,
        limit: PAGE,
        ...defined({ source }),
      })
      if (page.events.length > 0 || page.gap || page.position !== position)
        yield {
          events: page.events.map((event) => eventView(event, true)),
          position: page.position,
          gap: page.gap,
        }
      position = page.position
      if (page.events.length === 0) await Promise.race([notified, pause(POLL_MS, signal)])
    }
  } finally {
    await unsubscribe()
  }
}

/** A store that `--store` names is opened without the keys of the configuration. */
function insistOnReadable({ source, id }: EventKey, payload: Payload | null): void {
  const key = payload && sealingKeyId(payload.headers)
  if (key !== null)
    throw new Failure(
      `The payload of ${source}/${id} is encrypted with the key "${key}", and no key is known here. Run the command in the folder of hookonce.config.ts, without --store; HOOKONCE_STORE names another store.`,
    )
}

export function actorName(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    return 'cli' // containers may run with a user id that has no name
  }
}
