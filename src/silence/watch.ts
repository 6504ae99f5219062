/**
 * Looks once a minute whether an alarm has begun or is over, and logs it. One process of a log reads for all of them, and one
 * logs: the others find in `keys` what it has read and said.
 */
import { sha256 } from '../digest.js'
import { codeOf } from '../errors.js'
import type { Logger } from '../log.js'
import { onceInLog, onceKey } from '../once.js'
import type { Store } from '../store.js'
import { type Alarm, isOver, type SourceHealth, type WatchedSource } from './alarm.js'
import { type HealthReader, healthReader } from './health.js'

export interface SourceWatch {
  /** At most a minute old. Null while the store is not open, and when it has no history. */
  health(): Promise<readonly SourceHealth[] | null>
  /** Looks now. Resolves when what has changed is logged. */
  look(): Promise<void>
  start(): void
  stop(): void
}

export interface SourceWatchDeps {
  readonly store: { readonly opened: Store | null; readonly refuses: boolean }
  readonly sources: ReadonlyMap<string, WatchedSource>
  readonly log: Logger
}

const EVERY_MS = 60_000
/** Longer than the counts by hour are kept: the alarm is over by then. */
export const SAID_FOR_MS = 40 * 86_400_000
/** For another process that reads now. People wait for the answer. */
const WAIT_MS = 5_000
/** An alarm of each of them still fits into the result of a key. A process with more sources reads for itself. */
const SHARED_SOURCES = 250

export function sourceWatch({ store: lazy, sources, log }: SourceWatchDeps): SourceWatch {
  // Processes with other sources do not share what they read.
  const shared = `hookonce:health:${hash([...sources].map(([name, { mayBeSilent }]) => [name, mayBeSilent]))}`
  let reader: { readonly store: Store; readonly read: HealthReader | null } | null = null
  let own: { readonly at: number; readonly health: Promise<readonly SourceHealth[]> } | null = null
  let timer: NodeJS.Timeout | undefined
  const said = new Map<string, Alarm>()

  async function health(): Promise<readonly SourceHealth[] | null> {
    const store = lazy.opened
    if (store === null || lazy.refuses) return null
    if (reader?.store !== store) reader = { store, read: healthReader(store, sources) }
    const { read } = reader
    if (read === null || store.keys === undefined) return null
    if (sources.size <= SHARED_SOURCES)
      return onceKey(store.keys, shared, () => read.read(), { ttl: EVERY_MS, wait: WAIT_MS })
    if (own === null || performance.now() - own.at > EVERY_MS)
      own = { at: performance.now(), health: read.read() }
    return own.health
  }

  async function look(): Promise<void> {
    const found = await health()
    if (found === null) return
    await tellChanges(found, said, (id, alarm, begins) =>
      say(id, () => {
        if (begins) log.warn(lineOf(alarm), lineText(alarm))
        else log.info(lineOf(alarm), 'alarm is over')
      }),
    )
  }

  /** False when it must be tried again. */
  async function say(id: string, write: () => void): Promise<boolean> {
    const keys = lazy.opened?.keys
    return (
      keys !== undefined && (await onceInLog(keys, `hookonce:alarm:${id}:log`, SAID_FOR_MS, write)) !== 'busy'
    )
  }

  return {
    health,
    look,
    start() {
      timer ??= setInterval(() => {
        look().catch((error) => log.debug({ code: codeOf(error) }, 'the silence of sources was not checked'))
      }, EVERY_MS).unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}

/** Keeps in `told` what is told. `tell` returns false when it must be tried again. */
export async function tellChanges(
  health: readonly SourceHealth[],
  told: Map<string, Alarm>,
  tell: (id: string, alarm: Alarm, begins: boolean) => Promise<boolean>,
): Promise<void> {
  const alarms = new Map(health.flatMap((source) => source.alarms).map((alarm) => [alarm.id, alarm]))
  for (const [id, alarm] of alarms) if (!told.has(id) && (await tell(id, alarm, true))) told.set(id, alarm)
  for (const [id, alarm] of told)
    if (!alarms.has(id) && (!isOver(alarm, health) || (await tell(`${id}:over`, alarm, false))))
      told.delete(id)
}

/** Without the type, which the sender has written. */
function lineText({ kind, text, todo }: Alarm): string {
  return kind === 'stopped'
    ? 'a type that came every day does not come any more: hookonce doctor and the overview name it'
    : `${text} ${todo}`
}

function lineOf({ kind, source }: Alarm) {
  return { source, alarm: kind }
}

function hash(value: unknown): string {
  return sha256(JSON.stringify(value)).toString('hex', 0, 8)
}
