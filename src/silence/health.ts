/**
 * Finds sources that need a person because of what does not arrive: a source that is silent for longer than its rhythm
 * allows, one whose deliveries are rejected, a type that came daily and stopped. Each alarm names the likely cause.
 */
import { sha256 } from '../digest.js'
import type { Store } from '../store.js'
import { type Alarm, alarm, type Past, type SourceHealth, type WatchedSource } from './alarm.js'
import { causeOf } from './causes.js'
import { rejectedAfter, rejectedAlarm } from './rejections.js'
import { HOUR_MS, hoursAllowed, learnRhythm, REMEMBERED_HOURS, type Rhythm } from './rhythm.js'
import { type StoppedType, stoppedTypes } from './stopped-types.js'
import { timelineReader } from './timeline.js'

export interface HealthReader {
  read(): Promise<SourceHealth[]>
}

const MINUTE_MS = 60_000
/** Counts are written every ten seconds: an hour is complete a minute after its end. */
const COMPLETE_AFTER_MS = MINUTE_MS
const TYPES = 200

/** Null when the store has no history: nothing can be said then. */
export function healthReader(store: Store, sources: ReadonlyMap<string, WatchedSource>): HealthReader | null {
  const { history, inspect } = store
  if (history === undefined) return null
  const timeline = timelineReader(history)
  let stopped: { readonly hour: number; readonly alarms: readonly Alarm[] } | null = null

  /** They change once a day, and each type costs a query. */
  async function stoppedAlarms(pasts: readonly Past[], now: number): Promise<readonly Alarm[]> {
    const hour = Math.floor(now / HOUR_MS)
    if (stopped?.hour !== hour) stopped = { hour, alarms: await findStopped(pasts) }
    return stopped.alarms
  }

  async function findStopped(pasts: readonly Past[]): Promise<readonly Alarm[]> {
    const known = new Map((await inspect?.types(TYPES))?.map(({ source, types }) => [source, types]))
    const found: Alarm[] = []
    for (const { source, spans, now, watched } of pasts)
      if (!watched.mayBeSilent)
        for (const type of await stoppedTypes(store, source, known.get(source) ?? [], spans, now))
          found.push(stoppedAlarm(source, type))
    return found
  }

  return {
    async read() {
      const { now } = await history.read({ from: 0, to: MINUTE_MS, stepMs: MINUTE_MS })
      const { spans, awake } = await timeline.read(now)
      const pasts = [...sources].map(([source, watched]): Past => {
        return { source, watched, spans: spans.get(source) ?? [], awake, now }
      })
      const types = await stoppedAlarms(pasts, now)
      return pasts.map((past) => {
        const { alarms, ...health } = healthOf(past)
        return { ...health, alarms: [...alarms, ...types.filter(({ source }) => source === past.source)] }
      })
    },
  }
}

export function healthOf(past: Past): SourceHealth {
  const { source, watched, spans, awake, now } = past
  const last = spans.findLast(({ accepted }) => accepted > 0) ?? null
  const rhythm = rhythmOf(past)
  const rejections = rejectedAlarm(past, last, rhythm)
  if (rhythm === null || last === null || watched.mayBeSilent)
    return { source, reportsAt: null, alarms: rejections }
  const silentFrom = Math.floor(last.from / HOUR_MS) + 1
  const isAwake = (hour: number) => awake.has(hour) || (hour + 1) * HOUR_MS > now
  const reportsAt = (silentFrom + hoursAllowed(rhythm, silentFrom, isAwake)) * HOUR_MS + COMPLETE_AFTER_MS
  if (rejections.length > 0 || now < reportsAt) return { source, reportsAt, alarms: rejections }
  return {
    source,
    reportsAt,
    alarms: [alarm(past, 'silent', last, causeOf(watched, rejectedAfter(spans, last.to)))],
  }
}

function rhythmOf({ spans, now }: Past): Rhythm | null {
  const end = Math.floor((now - COMPLETE_AFTER_MS) / HOUR_MS)
  const firstHour = end - REMEMBERED_HOURS
  const counts = new Array<number>(REMEMBERED_HOURS).fill(0)
  for (const { from, accepted } of spans) {
    const i = Math.floor(from / HOUR_MS) - firstHour
    if (i >= 0 && i < counts.length) counts[i]! += accepted
  }
  return learnRhythm({ firstHour, counts })
}

function stoppedAlarm(source: string, { type, lastAt, days }: StoppedType): Alarm {
  return {
    // A type may be as long as a key.
    id: `stopped:${source}:${sha256(type).toString('hex', 0, 8)}:${Math.floor(lastAt / HOUR_MS)}`,
    kind: 'stopped',
    source,
    since: lastAt,
    text: `${source}: ${type} came every day, and has not come for ${days} days while other types do: it was probably removed from the endpoint at the sender.`,
    todo: 'Compare the types that the endpoint at the sender is subscribed to with those that you need.',
  }
}
