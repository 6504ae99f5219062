/**
 * A history of the log becomes a trace: one line for each rule that was applied (`trace.pml`). The rows of a history are
 * written by triggers (`watch.ts`) or by the log in memory of the simulation, so the program under test has no part in it.
 */

export interface Change {
  readonly table: 'events' | 'work' | 'attempts' | 'effects' | 'payloads' | 'consumers'
  readonly was: Row | null
  readonly is: Row | null
  /** By the clock of the store. */
  readonly at: number
  /** PostgreSQL: the transaction, and what the statement saw of others. */
  readonly tx?: number
  readonly sees?: Snapshot
}

type Row = Readonly<Record<string, unknown>>

export interface Snapshot {
  readonly min: number
  readonly max: number
  readonly open: readonly number[]
}

export interface TraceOptions {
  /**
   * The longest lease of a worker. A change in SQLite does not say when it was asked for: a heartbeat came so long before
   * the new end of its lease.
   */
  readonly leaseMs: number
  /** The events that senders got a 2xx for, as `source id`. */
  readonly acknowledged?: Iterable<string>
}

export interface Trace {
  readonly lines: readonly string[]
  /** What each line is about, for a message. */
  readonly about: readonly string[]
  readonly events: number
  readonly consumers: number
}

// As in trace.pml.
const rules = {
  RECORD: 1,
  WITHHOLD: 2,
  CLAIM: 3,
  ATTEMPT: 4,
  EXPIRE: 5,
  EXTEND: 6,
  RELEASE: 7,
  EFFECT: 8,
  SETTLE: 9,
  REVIVE: 10,
  IGNORE: 11,
  REMOVE: 12,
  FORGET: 13,
  MOVE: 14,
  COPY: 15,
  ACKED: 16,
  COMMIT: 17,
} as const
const how = { succeeded: 1, ignored: 2, dead: 3, retry: 4 } as const

interface Known {
  readonly name: string
  readonly id: string
  readonly seq: number
  readonly lane: string | null
  readonly index: number
  first: number
  last: number
}

export function traceOf(history: readonly Change[], { leaseMs, acknowledged = [] }: TraceOptions): Trace {
  const { bySeq, byName } = eventsOf(history)
  const consumers = new Map<string, number>()
  const lines: string[] = []
  const about: string[] = []
  const expired = new Set<number>()
  /** Work rows that a settle has taken away or made wait; its attempt comes before or after it. */
  const settled = new Map<number, { readonly isOver: boolean }>()
  const attempts = new Map<number, Row>()

  function consumerOf(name: string): number {
    if (!consumers.has(name)) consumers.set(name, consumers.size)
    return consumers.get(name)!
  }

  function add(rule: keyof typeof rules, event: { index: number; name: string }, a = 0, b = 0, c = 0): void {
    lines.push(`${rules[rule]} ${event.index} ${a} ${b} ${c}`)
    about.push(`${rule} ${event.name} ${a} ${b} ${c}`)
  }

  /** Before another change of the work row: says whether its lease was over by then. */
  function pass(event: Known, was: Row, at: number): void {
    if (was.token === null || expired.has(event.seq) || at < Number(was.next_at)) return
    expired.add(event.seq)
    add('EXPIRE', event)
  }

  function claim(event: Known, is: Row): void {
    expired.delete(event.seq)
    add('CLAIM', event, event.first, event.last)
    add('ATTEMPT', event, Number(is.attempt))
  }

  function settle(event: Known): void {
    const [work, attempt] = [settled.get(event.seq), attempts.get(event.seq)]
    if (!work || !attempt) return
    settled.delete(event.seq)
    attempts.delete(event.seq)
    const outcome = String(attempt.outcome)
    const end = outcome === 'failed' ? (work.isOver ? how.dead : how.retry) : how[outcome as 'succeeded']
    add('SETTLE', event, end, Number(attempt.attempt))
  }

  function onWork({ was, is, at, tx }: Change): void {
    const event = bySeq.get(Number((is ?? was)!.seq))!
    if (!was) {
      // A row of a new event comes with its event; any other one begins a new run.
      if (recorded.has(event.seq)) add('REVIVE', event)
      else record(event)
      if (is!.token !== null) claim(event, is!)
    } else if (!is) {
      const finished = attempts.get(event.seq)
      const isLive = was.token !== null && !expired.has(event.seq)
      if (!finished && !isLive) {
        add('IGNORE', event)
        return
      }
      pass(event, was, finished ? Number(finished.finished_at) : at)
      settled.set(event.seq, { isOver: true })
      settle(event)
    } else if (is.token !== null && is.token !== was.token) {
      pass(event, was, Number(is.claimed_at))
      claim(event, is)
    } else if (is.token !== null && is.next_at !== was.next_at) {
      pass(event, was, tx === undefined ? Number(is.next_at) - leaseMs : at)
      add('EXTEND', event)
    } else if (Number(is.run ?? 0) > Number(was.run ?? 0) || is.base_attempt !== was.base_attempt) {
      pass(event, was, at)
      add('REVIVE', event)
    } else if (was.token !== null && is.token === null) {
      pass(event, was, Math.min(at, Number(attempts.get(event.seq)?.finished_at ?? at)))
      if (Number(is.attempt) < Number(was.attempt)) add('RELEASE', event)
      else {
        settled.set(event.seq, { isOver: false })
        settle(event)
      }
    }
  }

  const recorded = new Set<number>()
  const waiting = new Map<number, Change>()

  function record(event: Known): void {
    const change = waiting.get(event.seq)
    waiting.delete(event.seq)
    recorded.add(event.seq)
    const source = event.name.slice(0, event.name.indexOf(' '))
    const followed = source.includes('/') ? byName.get(`${source.split('/')[0]} ${event.id}`) : undefined
    if (change?.is?.parked === 'ignored') add('WITHHOLD', event)
    else if (followed) add('COPY', event, followed.index, consumerOf(source), followed.seq)
    else add('RECORD', event, event.lane === null ? 0 : 1 + event.first, event.seq)
  }

  function onEvent(change: Change): void {
    const event = bySeq.get(Number((change.is ?? change.was)!.seq))!
    if (!change.was) {
      if (recorded.has(event.seq)) add('RECORD', event)
      waiting.set(event.seq, change)
      if (change.is!.parked === 'ignored') record(event)
    } else if (!change.is) {
      recorded.delete(event.seq)
      add('FORGET', event)
    }
  }

  let lastTx: number | undefined
  for (const change of inOrder(history)) {
    const { table, is, was, tx } = change
    if (tx !== lastTx) add('COMMIT', { index: 0, name: 'of the transaction before' })
    lastTx = tx
    if (table === 'events') onEvent(change)
    else if (table === 'work') onWork(change)
    else if (table === 'attempts' && is && is.outcome !== 'lost') {
      const event = bySeq.get(Number(is.seq))!
      attempts.set(event.seq, is)
      settle(event)
    } else if (table === 'effects' && is) {
      const event = [...byName.values()].find(({ id, name }) => id === is.event && !name.includes('/'))
      if (event) add('EFFECT', event, Number(is.attempt ?? 0))
    } else if (table === 'payloads' && !is) {
      for (const event of bySeq.values())
        if (Number(was!.seq) === event.seq && recorded.has(event.seq)) add('REMOVE', event)
    } else if (table === 'consumers' && was && is) {
      const name = String(is.source)
      add('MOVE', { index: consumerOf(name), name }, Number(was.position), Number(is.position))
    }
  }
  for (const name of acknowledged) {
    const event = byName.get(name)
    add('ACKED', event ?? { index: byName.size, name })
  }
  return { lines, about, events: byName.size + 1, consumers: Math.max(1, consumers.size) }
}

/** Events by number: those of a lane follow each other, in the order of their seqs. */
function eventsOf(history: readonly Change[]) {
  const rows = history.filter(({ table, was }) => table === 'events' && was === null).map(({ is }) => is!)
  const laneOf = new Map<number, string | null>()
  for (const { table, was, is } of history)
    if (table === 'work' && !was) laneOf.set(Number(is!.seq), (is!.lane as string | null) ?? null)
  const found = rows
    .map((row) => ({ row, seq: Number(row.seq), lane: laneOf.get(Number(row.seq)) ?? null }))
    .map((one) => ({ ...one, group: one.lane === null ? '' : `${one.row.source}\n${one.lane}` }))
    .sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : a.seq - b.seq))
  const bySeq = new Map<number, Known>()
  const byName = new Map<string, Known>()
  for (const { row, seq, group } of found) {
    const name = `${row.source} ${row.event_id}`
    const index = byName.get(name)?.index ?? byName.size
    const known: Known = {
      name,
      id: String(row.event_id),
      seq,
      lane: group || null,
      index,
      first: index,
      last: index,
    }
    bySeq.set(seq, known)
    byName.set(name, known)
  }
  const lanes = new Map<string, Known[]>()
  for (const event of bySeq.values())
    if (event.lane !== null) lanes.set(event.lane, [...(lanes.get(event.lane) ?? []), event])
  for (const lane of lanes.values())
    for (const event of lane) {
      event.first = lane[0]!.index
      event.last = lane.at(-1)!.index
    }
  return { bySeq, byName }
}

/**
 * Triggers number changes before their transaction commits. An event of a lane that a claim did not see yet is recorded
 * after that claim.
 */
function inOrder(history: readonly Change[]): Change[] {
  const ordered: Change[] = []
  let held: Change[] = []
  const seqOf = ({ table, is, was }: Change) =>
    table === 'events' || table === 'work' ? Number((is ?? was)!.seq) : null
  for (const change of history) {
    const { tx, sees } = change
    const isNew = change.was === null && (change.table === 'events' || change.table === 'work')
    // A consumer's position goes before the events that were copied in its commit.
    if (tx !== undefined && change.table === 'consumers') {
      const own = held.findIndex((one) => one.tx === tx)
      held.splice(own < 0 ? held.length : own, 0, change)
      continue
    }
    if (tx !== undefined && isNew) {
      held.push(change)
      continue
    }
    const seq = seqOf(change)
    const isVisible = (one: Change) =>
      one.tx === tx ||
      (sees !== undefined && isCommitted(one.tx!, sees)) ||
      (seq !== null && seqOf(one) === seq)
    const seen = new Set(held.filter(isVisible).map(({ tx: own }) => own))
    for (const own of seen) ordered.push(...held.filter((one) => one.tx === own))
    held = held.filter((one) => !seen.has(one.tx))
    ordered.push(change)
  }
  for (const own of new Set(held.map((one) => one.tx))) ordered.push(...held.filter((one) => one.tx === own))
  return ordered
}

function isCommitted(tx: number, { min, max, open }: Snapshot): boolean {
  return tx < min || (tx < max && !open.includes(tx))
}
