/**
 * The `history` capability: counts by time, written by every process that runs an inbox. Needed by the overview of the
 * admin API. Its size depends on the number of sources, so a reading costs no more on a large log.
 */
export interface History {
  /** Adds counts to the current minute, ten minutes and hour, and notes that the process is alive. */
  add(note: HistoryNote): Promise<void>
  read(range: HistoryRange): Promise<HistoryReport>
  /** Processes that wrote a note in the last day, the latest first. */
  processes(): Promise<ProcessSeen[]>
  /** Notes older than `HANDLED_MS` by the store's clock do not count. */
  handled(): Promise<HandledTypes[]>
}

export const historyLevels = [
  { stepMs: 60_000, keptMs: 3 * 3_600_000 },
  { stepMs: 600_000, keptMs: 2 * 86_400_000 },
  { stepMs: 3_600_000, keptMs: 35 * 86_400_000 },
] as const

/** A process that writes no more notes is listed this long. */
export const PROCESS_KEPT_MS = 86_400_000

/** Three notes of a process, and half as much again for a busy one: then it counts as dead and handles nothing. */
export const HANDLED_MS = 45_000

/** A `name` with this prefix is a part of a distribution, which is summed over the whole range. */
export const DISTRIBUTION = '~'

/** The `source` of counts of the log itself. Its count `alive` says that a process was running. */
export const LOG_ITSELF = '(log)'

export interface HistoryCount {
  readonly source: string
  readonly name: string
  readonly value: number
}

export interface ProcessFacts {
  readonly id: string
  readonly version: string
  readonly node: string
  readonly host: string
  readonly pid: number
  /** Names it in leases and attempts; null when it runs no handlers. */
  readonly worker: string | null
  readonly handles?: readonly HandledTypes[]
  readonly places?: PlacesTaken
  /** Destinations, as `stripe/crm`, that it does not try now because they fail. */
  readonly circuits?: readonly string[]
  /** By source, where types have a family and an action: `.` of `pull_request.opened`. */
  readonly separators?: Readonly<Record<string, string>>
}

export interface HandledTypes {
  readonly source: string
  /** A type, or a glob. */
  readonly pattern: string
}

/** The attempts that it runs at the same time: at most `size`, and who holds their places. */
export interface PlacesTaken {
  readonly size: number
  readonly taken: readonly PlaceHolder[]
  /** The events of these attempts, by seq. Other events under leases of this process have not begun. Null: too many. */
  readonly running: readonly number[] | null
}

export interface PlaceHolder extends HandledTypes {
  readonly count: number
  /** Of the handler itself. */
  readonly limit: number | null
}

export interface HistoryNote {
  readonly counts: readonly HistoryCount[]
  readonly process: ProcessFacts
}

export interface HistoryRange {
  readonly from: number
  readonly to: number
  /** A bucket of the answer: a multiple of a kept length. The longest that divides it is read. */
  readonly stepMs: number
}

export interface HistoryReport {
  readonly cells: readonly (HistoryCount & { readonly at: number })[]
  /** The start of the oldest bucket of any source at this length; null when there is none. */
  readonly since: number | null
  readonly now: number
}

export interface ProcessSeen extends ProcessFacts {
  readonly startedAt: number
  readonly seenAt: number
}

export function levelOf(stepMs: number): number {
  return historyLevels.findLast((level) => stepMs % level.stepMs === 0)?.stepMs ?? historyLevels[0].stepMs
}

export function typesHandled(facts: readonly string[]): HandledTypes[] {
  const found = new Map<string, HandledTypes>()
  for (const text of facts)
    for (const types of (JSON.parse(text) as ProcessFacts).handles ?? [])
      found.set(`${types.source} ${types.pattern}`, types)
  return [...found.values()]
}
