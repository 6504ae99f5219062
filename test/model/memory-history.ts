/** The history of a log in memory: what each call has changed, as `watch.ts` has it from the triggers of a database. */
import type { Model, ModelEvent } from '../property/model.js'
import type { Change } from './history.js'

type Row = NonNullable<Change['is']>

export interface MemoryEffect {
  readonly event: string
  readonly attempt: number
}

export class MemoryHistory {
  readonly changes: Change[] = []
  readonly #model: Model
  readonly #effects: readonly MemoryEffect[]
  readonly #work = new Map<number, Row | null>()
  readonly #attempts = new Map<number, number>()
  /** A lease is judged when its event is settled, which may be before the commit. */
  readonly #settledAt = new Map<number, number>()
  #effectCount = 0

  constructor(model: Model, effects: readonly MemoryEffect[]) {
    this.#model = model
    this.#effects = effects
  }

  settles(seq: number): void {
    this.#settledAt.set(seq, this.#model.now)
  }

  /** After each call, before another one can change anything. */
  note(): void {
    for (; this.#effectCount < this.#effects.length; this.#effectCount++)
      this.#add('effects', null, { ...this.#effects[this.#effectCount] })
    for (const event of this.#model.events.values()) this.#noteEvent(event)
  }

  #noteEvent(event: ModelEvent): void {
    const { seq, source, id, attempts, parked } = event
    if (!this.#work.has(seq)) this.#add('events', null, { seq, source, event_id: id, parked })
    const was = this.#work.get(seq) ?? null
    for (let i = this.#attempts.get(seq) ?? 0; i < attempts.length; i++) {
      const { attempt, outcome } = attempts[i]!
      const finishedAt = this.#settledAt.get(seq) ?? this.#model.now
      this.#add('attempts', null, { seq, attempt, outcome, finished_at: finishedAt })
    }
    this.#attempts.set(seq, attempts.length)
    const is = this.#rowOf(event)
    this.#work.set(seq, is)
    if (JSON.stringify(is) === JSON.stringify(was)) return
    const isClaimed = is !== null && is.token !== null && is.token !== was?.token
    this.#add('work', was, isClaimed ? { ...is, claimed_at: this.#model.now } : is)
  }

  #rowOf({ seq, event, work, run }: ModelEvent): Row | null {
    if (!work) return null
    const { nextAt, token, attempt, base } = work
    return { seq, lane: event.lane ?? null, next_at: nextAt, token, attempt, base_attempt: base, run }
  }

  #add(table: Change['table'], was: Row | null, is: Row | null): void {
    this.changes.push({ table, was, is, at: this.#model.now })
  }
}

/** Histories of several runs as one: events have the name of their run. */
export function together(runs: readonly (readonly [name: number, history: readonly Change[]])[]): Change[] {
  const SEQS = 1_000_000
  return runs.flatMap(([name, history], i) => {
    const named = (row: Row | null): Row | null =>
      row && {
        ...row,
        ...('seq' in row && { seq: Number(row.seq) + i * SEQS }),
        ...('event_id' in row && { event_id: `${row.event_id} of ${name}` }),
        ...('event' in row && { event: `${row.event} of ${name}` }),
        ...(typeof row.lane === 'string' && { lane: `${row.lane} of ${name}` }),
      }
    return history.map((change) => ({ ...change, was: named(change.was), is: named(change.is) }))
  })
}
