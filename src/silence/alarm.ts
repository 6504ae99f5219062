/** What an alarm is: the reason why a source needs a person, and what is known of the source. */
import type { Source } from '../provider.js'
import { type Cause, clockText } from './causes.js'
import { HOUR_MS } from './rhythm.js'
import type { Span } from './timeline.js'

export const alarmKinds = ['silent', 'rejected', 'stopped'] as const
export type AlarmKind = (typeof alarmKinds)[number]

export interface Alarm {
  /** The same until it is over. */
  readonly id: string
  readonly kind: AlarmKind
  readonly source: string
  /** The last time when all was well, or the beginning of the rejections. */
  readonly since: number
  readonly text: string
  readonly todo: string
}

/** What is known of one source. `reportsAt`: when its silence is reported; null while its rhythm is not known. */
export interface SourceHealth {
  readonly source: string
  readonly reportsAt: number | null
  readonly alarms: readonly Alarm[]
}

/** After weeks of silence the rhythm is forgotten, and with it the alarm: that is no end. */
export function isOver({ kind, source }: Alarm, health: readonly SourceHealth[]): boolean {
  return kind !== 'silent' || health.some((own) => own.source === source && own.reportsAt !== null)
}

export type WatchedSource = Pick<Source, 'name' | 'mayBeSilent' | 'disables'>

export interface Past {
  readonly source: string
  readonly watched: WatchedSource
  readonly spans: readonly Span[]
  /** Hours since 1970 in which a process of the log was running. */
  readonly awake: ReadonlySet<number>
  readonly now: number
}

export function alarm(
  { source, spans, now }: Past,
  kind: AlarmKind,
  last: Span | null,
  { text, todo }: Cause,
): Alarm {
  const since = last?.from ?? spans[0]!.from
  const known = last === null ? 'no delivery was ever accepted' : `last accepted ${clockText(since, now)}`
  const id = `${kind}:${source}:${last === null ? 'never' : Math.floor(since / HOUR_MS)}`
  return { id, kind, source, since, text: `${source}: ${known}; ${text}`, todo }
}
