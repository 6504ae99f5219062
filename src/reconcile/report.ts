/** What a run of reconcile has found. It is written to the log as JSON while the run goes on. */
import type { SenderList } from '../provider.js'

/** Counts of events. `listed` = `known` + `missing`. */
export interface ReconcileCounts {
  /** The sender lists them, and has sent them to this endpoint. */
  readonly listed: number
  /** The log has them. */
  readonly known: number
  /** The log did not have them. */
  readonly missing: number
  /** Missing ones that the log has now. */
  readonly recovered: number
  /** Missing ones that the sender was asked to deliver again, and that have not arrived. */
  readonly waiting: number
  /** The log has them from this window, and the sender does not list them. They stay. */
  readonly extra: number
}

/** Instants are milliseconds since 1970. */
export interface ReconcileReport extends ReconcileCounts {
  readonly id: string
  readonly source: string
  /**
   * `running`: not ended yet. When the process of a scheduled run has died, it is `running` until another one continues it; a
   * run that a person asked for is `failed` after 45 seconds.
   */
  readonly state: 'running' | 'complete' | 'failed'
  readonly dryRun: boolean
  /** Who asked for it. */
  readonly by: 'schedule' | 'request'
  readonly since: number
  readonly until: number
  /** Compared from `since` to here. */
  readonly comparedUntil: number
  /** From `since` to here, the log has every event that the sender lists. */
  readonly completeUntil: number
  /** The schedule does not go back behind the first event of the log. */
  readonly notBefore: number | null
  readonly startedAt: number
  readonly finishedAt: number | null
  /** Listed events that this endpoint does not get: of types it does not subscribe to, or from before it existed. */
  readonly unsubscribed: number
  readonly types: Readonly<Record<string, ReconcileCounts>>
  /** The first events that are still missing, and why. */
  readonly lacking: readonly LackingEvent[]
  /** The ids of the first extra events. */
  readonly extras: readonly string[]
  /** Requests to the sender. */
  readonly requests: number
  /** The sender has switched the endpoint off. */
  readonly disabled: boolean
  readonly error: string | null
  /** What agreement means, and what it does not. */
  readonly proves: string
}

export interface LackingEvent {
  readonly id: string
  readonly type: string
  readonly occurredAt: number
  readonly why: string
}

export type Count = keyof ReconcileCounts

const MAX_TYPES = 200
const MAX_NAMED = 50
const OTHER_TYPES = '(other types)'

const noCounts: ReconcileCounts = {
  listed: 0,
  known: 0,
  missing: 0,
  recovered: 0,
  waiting: 0,
  extra: 0,
}

/** Collects the counts of a run, or of a part of it that may have to be read again. */
export class Tally {
  counts: Record<Count, number> = { ...noCounts }
  unsubscribed = 0
  readonly types = new Map<string, Record<Count, number>>()
  readonly lacking: LackingEvent[] = []
  readonly extras: string[] = []
  /** The oldest event that is still missing. */
  lackingSince = Number.POSITIVE_INFINITY

  /** Continues a run. */
  static of(report: ReconcileReport): Tally {
    const tally = new Tally()
    const { types, lacking, extras, unsubscribed } = report
    for (const name of Object.keys(noCounts) as Count[]) tally.counts[name] = report[name]
    for (const [type, counts] of Object.entries(types)) tally.types.set(type, { ...counts })
    tally.lacking.push(...lacking)
    tally.extras.push(...extras)
    tally.unsubscribed = unsubscribed
    if (report.completeUntil < report.comparedUntil) tally.lackingSince = report.completeUntil
    return tally
  }

  count(name: Count, type: string): void {
    this.counts[name] += 1
    const key = this.#keyOf(type)
    const counts = this.types.get(key) ?? { ...noCounts }
    counts[name] += 1
    this.types.set(key, counts)
  }

  add(part: Tally): void {
    for (const name of Object.keys(noCounts) as Count[]) this.counts[name] += part.counts[name]
    for (const [type, counts] of part.types) {
      const key = this.#keyOf(type)
      const own = this.types.get(key) ?? { ...noCounts }
      for (const name of Object.keys(noCounts) as Count[]) own[name] += counts[name]
      this.types.set(key, own)
    }
    this.unsubscribed += part.unsubscribed
    this.lacking.push(...part.lacking.slice(0, MAX_NAMED - this.lacking.length))
    this.lackingSince = Math.min(this.lackingSince, part.lackingSince)
  }

  #keyOf(type: string): string {
    return this.types.has(type) || this.types.size < MAX_TYPES ? type : OTHER_TYPES
  }

  recovered(type: string): void {
    this.count('missing', type)
    this.count('recovered', type)
  }

  lacks(event: LackingEvent): void {
    if (this.lacking.length < MAX_NAMED) this.lacking.push(event)
    this.lackingSince = Math.min(this.lackingSince, event.occurredAt)
  }

  extra(id: string, type: string): void {
    this.count('extra', type)
    if (this.extras.length < MAX_NAMED) this.extras.push(id)
  }
}

export function provesOf(name: string, list: SenderList): string {
  const of =
    list.of === 'deliveries'
      ? `what ${name} lists as sent to this endpoint`
      : `what ${name} lists for the account, for the types that this endpoint gets`
  return `The log was compared with ${of}. The list does not have ${list.lacks}.`
}
