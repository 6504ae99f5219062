/**
 * Why an event that is not finished waits. `judge` decides from facts alone: where the event stands in the log, what operators
 * have paused, the limits in use, and what the live processes said about themselves. `waitingOf` reads these facts for many
 * events at once, with one query for each kind.
 */
import { handlesType, moreSpecificFirst } from '../glob.js'
import { type EventRecord, followedSource } from '../model.js'
import type { Source } from '../provider.js'
import { type LimitState, limitOn } from '../store/grants.js'
import { HANDLED_MS } from '../store/history.js'
import { coversType, type Pause } from '../store/pauses.js'
import type { Standing } from '../store/waiting.js'
import type { PlaceHolder, ProcessSeen, Store } from '../store.js'

export type Waiting =
  /** Its signed content is known under another id, and an operator has to decide. */
  | { readonly kind: 'review'; readonly sameAs: string | null }
  | { readonly kind: 'running'; readonly worker: string; readonly sinceAt: number }
  /** An operator has paused its source, its consumer or its type. */
  | {
      readonly kind: 'paused'
      readonly source: string
      readonly type: string | null
      readonly actor: string
      readonly sinceAt: number
    }
  /** An earlier event of its reference is not finished. `dueAt`: null while that one is handled. */
  | { readonly kind: 'behind'; readonly id: string; readonly dueAt: number | null }
  /** Its last attempt failed. */
  | { readonly kind: 'retry'; readonly dueAt: number }
  /** Its handler postponed it, or it was released. */
  | { readonly kind: 'postponed'; readonly dueAt: number }
  /** Its destination fails. `dueAt`: when this event is tried next. */
  | { readonly kind: 'circuit'; readonly dueAt: number }
  /** All places for its handler are taken, by these handlers. */
  | { readonly kind: 'places'; readonly takenBy: readonly PlaceHolder[] }
  /** The limit of its handler (`pattern`) allows no further call, in no process. `dueAt`: the next one; null: when one ends. */
  | { readonly kind: 'limit'; readonly pattern: string; readonly dueAt: number | null }
  /** No live process runs handlers. */
  | { readonly kind: 'no_worker' }
  /** No live process has a handler for it. */
  | { readonly kind: 'no_handler' }
  /** It is due: a worker takes it in a moment. */
  | { readonly kind: 'due' }

export const waitingKinds = [
  'review',
  'running',
  'paused',
  'behind',
  'retry',
  'postponed',
  'circuit',
  'places',
  'limit',
  'no_worker',
  'no_handler',
  'due',
] as const satisfies readonly Waiting['kind'][]

export interface WaitingFacts {
  readonly event: Pick<EventRecord, 'source' | 'type' | 'state' | 'reason' | 'sameAs'>
  /** Null when the event is finished. */
  readonly standing: Standing | null
  readonly pauses: readonly Pause[]
  /** Live ones and others. */
  readonly processes: readonly ProcessSeen[]
  /** The limit of its handler, while it is in use. */
  readonly limit?: LimitState | null
  /** As types of the source are divided into a family and an action. */
  readonly separator?: string | undefined
}

/** Null: it waits for nothing, because it is finished. */
export function judge({
  event,
  standing,
  pauses,
  processes,
  limit = null,
  separator,
}: WaitingFacts): Waiting | null {
  if (standing === null) return ofFinished(event)
  const { now, dueAt, lease, before } = standing
  if (lease)
    return (
      waitsForPlace(standing, event, processes, limit, separator) ?? {
        kind: 'running',
        worker: lease.worker,
        sinceAt: lease.claimedAt,
      }
    )
  const pause = pauses.find((one) => coversType(one, event, separator))
  if (pause) {
    const { source, type, actor, at: sinceAt } = pause
    return { kind: 'paused', source, type, actor, sinceAt }
  }
  if (before) return { kind: 'behind', ...before }
  const live = processes.filter(({ seenAt }) => seenAt >= now - HANDLED_MS)
  const hasOpenCircuit = live.some(({ circuits = [] }) => circuits.includes(event.source))
  if (dueAt > now) {
    if (!standing.isReleased) return event.state === 'failed' ? { kind: 'retry', dueAt } : { kind: 'due' }
    return { kind: hasOpenCircuit ? 'circuit' : 'postponed', dueAt }
  }
  const workers = live.filter(({ handles = [] }) => handles.length > 0)
  if (workers.length === 0) return { kind: 'no_worker' }
  const handling = workers.flatMap((process) => patternFor(process, event, separator) ?? [])
  if (handling.length === 0) return { kind: 'no_handler' }
  if (handling.every(({ process }) => isFull(process)))
    return { kind: 'places', takenBy: holdersOf(handling.map(({ process }) => process)) }
  return waitsForLimit(limit, live, now) ?? { kind: 'due' }
}

/** `most` is what a process that has a place for the handler says of its option. */
function waitsForLimit(
  limit: LimitState | null,
  processes: readonly ProcessSeen[],
  now: number,
): Waiting | null {
  if (limit === null) return null
  const { source, pattern, slots, nextStartAt, pausedUntil } = limit
  const nextAt = Math.max(nextStartAt, pausedUntil)
  const most = processes
    .flatMap(({ places }) => places?.taken ?? [])
    .find((holder) => holder.source === source && holder.pattern === pattern)?.limit
  const isFull = typeof most === 'number' && slots >= most
  if (nextAt <= now && !isFull) return null
  return { kind: 'limit', pattern, dueAt: nextAt > now ? nextAt : null }
}

function ofFinished({ state, reason, sameAs }: WaitingFacts['event']): Waiting | null {
  return state === 'ignored' && reason === 'replayed_content' ? { kind: 'review', sameAs } : null
}

/** A process claims a few events ahead of its free places. What it said before the claim tells nothing about the event. */
function waitsForPlace(
  { seq, lease, now }: Standing,
  event: WaitingFacts['event'],
  processes: readonly ProcessSeen[],
  limit: LimitState | null,
  separator: string | undefined,
): Waiting | null {
  const process = processes.find(({ worker }) => worker === lease!.worker)
  const running = process?.places?.running
  if (!process || !running || lease!.claimedAt >= process.seenAt || running.includes(seq)) return null
  const found = patternFor(process, event, separator)
  if (found && isFull(process)) return { kind: 'places', takenBy: holdersOf([process]) }
  return waitsForLimit(limit, processes, now)
}

/** The handler of the process that takes the event. */
function patternFor(
  process: ProcessSeen,
  { source, type }: WaitingFacts['event'],
  separator: string | undefined,
): { readonly process: ProcessSeen; readonly pattern: string } | null {
  const [pattern] = (process.handles ?? [])
    .filter((types) => types.source === source && handlesType(types.pattern, type, separator))
    .map((types) => types.pattern)
    .sort(moreSpecificFirst)
  return pattern === undefined ? null : { process, pattern }
}

function isFull({ places }: ProcessSeen): boolean {
  if (!places) return false
  return places.taken.reduce((sum, { count }) => sum + count, 0) >= places.size
}

/** Summed over the processes, the one with the most places first. */
function holdersOf(processes: readonly ProcessSeen[]): PlaceHolder[] {
  const sums = new Map<string, PlaceHolder>()
  for (const holder of processes.flatMap(({ places }) => places?.taken ?? [])) {
    const key = JSON.stringify([holder.source, holder.pattern])
    sums.set(key, { ...holder, count: holder.count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()].sort((a, b) => b.count - a.count)
}

type SourceTypes = ReadonlyMap<string, Pick<Source, 'typeSeparator'>>
type WaitingStore = Pick<Store, 'inspect' | 'pauses' | 'history' | 'grants'>
/** Of more limits in use at once, some events only say that they are due. */
const MAX_LIMITS = 1_000

/**
 * In the order of the events; null for those that wait for nothing, and for all of them on a store without `inspect`.
 * `own`: what this process knows about itself, which is newer than what it wrote to the log.
 */
export async function waitingOf(
  { inspect, pauses, history, grants }: WaitingStore,
  events: readonly EventRecord[],
  { sources, own }: { readonly sources?: SourceTypes; readonly own?: Partial<ProcessSeen> } = {},
): Promise<(Waiting | null)[]> {
  const seqs = events.filter(isUnfinished).map(({ seq }) => seq)
  const isAsked = inspect !== undefined && seqs.length > 0
  const [standings, paused = [], processes = [], limits = []] = isAsked
    ? await Promise.all([
        inspect.standings(seqs),
        pauses?.list(),
        history?.processes(),
        grants?.list({ limit: MAX_LIMITS }),
      ])
    : [[]]
  const bySeq = new Map(standings.map((standing) => [standing.seq, standing]))
  const facts = {
    pauses: paused,
    processes: own
      ? processes.map((one) =>
          one.id === own.id ? { ...one, ...own, seenAt: Number.POSITIVE_INFINITY } : one,
        )
      : processes,
  }
  return events.map((event) => {
    const source = followedSource(event.source)
    const separator =
      sources?.get(source)?.typeSeparator ??
      processes.find(({ separators }) => separators?.[source])?.separators?.[source]
    const limit = limitOn(limits, event, separator)
    return judge({ ...facts, event, standing: bySeq.get(event.seq) ?? null, limit, separator })
  })
}

/** As far as the record says. The log decides: it has no standing for an event that has finished since. */
function isUnfinished({ state, nextAttemptAt }: EventRecord): boolean {
  return state === 'pending' || state === 'processing' || (state === 'failed' && nextAttemptAt !== null)
}
