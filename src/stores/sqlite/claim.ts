/**
 * Claim: leases due events, fairly between sources, oldest due first, and of each lane only its head. A claim writes
 * nothing when no event is due, so idle workers cause no disk writes.
 */
import { randomUUID } from 'node:crypto'
import { type ClaimedEvent, type ClaimOptions, limits } from '../../model.js'
import { PassedBacklog } from '../shared/passed-backlog.js'
import { type Connection, perConnection } from './connection.js'
import type { Row } from './driver.js'
import { blockedAt, park } from './lane.js'
import { hexOrNull, textOrNull, writeLostAttempt } from './rows.js'

export function claim(log: Connection, options: ClaimOptions): ClaimedEvent[] {
  if (options.event) {
    if (namedEvent(log, options) === undefined) return []
    return log.write(() => {
      const row = namedEvent(log, options)
      return row === undefined ? [] : take(log, options, [row])
    })
  }
  if (dueSources(log, options.sources).length === 0) return []
  // Read again under the lock, because another process may have claimed them in the meantime.
  return log.write(() => {
    const sources = dueSources(log, options.sources)
    return take(log, options, pickFairly(log, sources, options))
  })
}

const nextSource = 'select source from hookonce_work where source > ? order by source limit 1'
const oldestDue = `
  select next_at from hookonce_work where source = ? and next_at <= ? order by next_at, seq limit 1`

/**
 * Sources with a due event: the least recently served first, and among those never served the one with the oldest due
 * event. A claim with a limit below the number of sources would otherwise always serve the same sources.
 */
function dueSources(log: Connection, wanted?: readonly string[]): string[] {
  const turns = turnsOf(log)
  const due: { source: string; turn: number; oldest: number }[] = []
  for (const source of wanted === undefined ? allSources(log) : new Set(wanted)) {
    const row = log.get(oldestDue, source, log.now)
    if (row !== undefined) due.push({ source, turn: turns.get(source) ?? 0, oldest: Number(row.next_at) })
  }
  return due.sort((a, b) => a.turn - b.turn || a.oldest - b.oldest).map(({ source }) => source)
}

function allSources(log: Connection): string[] {
  const sources: string[] = []
  for (let after = ''; ; ) {
    const row = log.get(nextSource, after)
    if (row === undefined) return sources
    after = String(row.source)
    sources.push(after)
  }
}

/** Counts the lost attempts in a row, with the attempt whose lease has expired and that has no row in `attempts` yet. */
const losses = `
  case when w.attempt = w.base_attempt then 0 else (w.token is not null) + (
    select count(*) from hookonce_attempts a
    where a.seq = w.seq and a.attempt > max(w.base_attempt, coalesce((
      select b.attempt from hookonce_attempts b
      where b.seq = w.seq and b.outcome <> 'lost' order by b.attempt desc limit 1), 0))) end`

const claimColumns = (now: string): string => `
  select w.*, e.event_id, e.event_type, e.related_reference, e.received_at, e.run, e.part, e.content_hash,
    coalesce(e.payload_seq, e.seq) as payload_seq, ${losses} as losses, ${blockedAt(now)} as blocked
  from hookonce_work w join hookonce_events e on e.seq = w.seq`
const due = (condition: string): string => `${claimColumns('?2')}
  where w.source = ?1 and w.next_at <= ?2 and (w.next_at, w.seq) > (?3, ?4)${condition}
  order by w.next_at, w.seq limit ?5`
const dueAfter = due('')
const dueAfterExcept = due(' and e.event_type not in (select value from json_each(?6))')

/** Blocked rows come in groups, so many rows are read at once after the first of them. */
const READ_AT_LEAST = 100

interface Place {
  readonly source: string
  /** JSON array of the types that are left to others. */
  readonly left: string | null
  nextAt: number
  seq: number
}

/** Every source gets an equal share of `limit`; a share that a source does not use goes to the others. */
function pickFairly(
  log: Connection,
  sources: readonly string[],
  { limit, except = [] }: ClaimOptions,
): Row[] {
  const turns = turnsOf(log)
  const turn = Math.max(0, ...turns.values()) + 1
  const picked: Row[] = []
  const passed = passedOf(log)
  let waiting: Place[] = sources.map((source) => {
    const types = except.filter((one) => one.source === source).map(({ type }) => type)
    const left = types.length > 0 ? JSON.stringify(types) : null
    return { source, left, nextAt: passed.before(source, left) - 1, seq: -1 }
  })
  while (picked.length < limit && waiting.length > 0) {
    const share = Math.max(1, Math.floor((limit - picked.length) / waiting.length))
    waiting = waiting.filter((place) => {
      const count = Math.min(share, limit - picked.length)
      if (count === 0) return false
      const rows = nextFree(log, place, count)
      if (rows.length < count) passed.note(place.source, place.left, log.now)
      if (rows.length === 0) return false
      turns.set(place.source, turn)
      picked.push(...rows)
      return rows.length === count
    })
  }
  return picked.sort((a, b) => Number(a.next_at) - Number(b.next_at) || Number(a.seq) - Number(b.seq))
}

/** Rows that their lane blocks are parked; rows of types in `left` stay due. */
function nextFree(log: Connection, place: Place, count: number): Row[] {
  const free: Row[] = []
  for (let most = count; ; most = Math.max(count - free.length, READ_AT_LEAST)) {
    const from = [place.source, log.now, place.nextAt, place.seq, most] as const
    const rows =
      place.left === null ? log.all(dueAfter, ...from) : log.all(dueAfterExcept, ...from, place.left)
    const blocked: Row[] = []
    for (const row of rows) {
      place.nextAt = Number(row.next_at)
      place.seq = Number(row.seq)
      if (row.blocked !== 0) blocked.push(row)
      else if (free.push(row) === count) break
    }
    park(log, blocked)
    if (free.length === count || rows.length < most) return free
  }
}

/** The backlog of types that are left to others, which claims need not read again. */
const passedOf = perConnection(() => new PassedBacklog())

/** The turn in which this connection last served each source. Only fairness needs it, so a restart may lose it. */
const turnsOf = perConnection(() => new Map<string, number>())

const byKey = `${claimColumns('?3')}
  where e.source = ?1 and e.event_id = ?2 and (w.token is null or w.next_at <= ?3)`

function namedEvent(log: Connection, { event }: ClaimOptions): Row | undefined {
  const row = log.get(byKey, event!.source, event!.id, log.now)
  return row?.blocked !== 0 ? undefined : row
}

// One statement for all rows: the random text is new in each claim, and the seq makes each token unique.
const lease = `
  update hookonce_work set token = ?1 || '.' || seq, worker = ?2, claimed_at = ?3, attempt = attempt + 1,
    next_at = ?4
  where seq in (select value from json_each(?5))`
const payloadBySeq = 'select headers, body from hookonce_payloads where seq = ?'

function take(log: Connection, options: ClaimOptions, rows: readonly Row[]): ClaimedEvent[] {
  const payloads = new Map<number, Pick<ClaimedEvent, 'headers' | 'body'>>()
  let bytes = 0
  const payloadOf = (seq: number) => {
    let payload = payloads.get(seq)
    if (payload === undefined) {
      const row = log.get(payloadBySeq, seq)
      payload = {
        headers: row ? JSON.parse(String(row.headers)) : {},
        body: row ? (row.body as Uint8Array) : null,
      }
      payloads.set(seq, payload)
      bytes += payload.body?.byteLength ?? 0
    }
    return payload
  }

  const random = randomUUID()
  const claimed: ClaimedEvent[] = []
  for (const row of rows) {
    const seq = Number(row.seq)
    const { headers, body } = payloadOf(Number(row.payload_seq))
    if (bytes > limits.claimBytes && claimed.length > 0) break
    writeLostAttempt(log, row)
    const attempt = Number(row.attempt) + 1
    claimed.push({
      source: String(row.source),
      id: String(row.event_id),
      lease: { seq, token: `${random}.${seq}` },
      type: String(row.event_type),
      reference: textOrNull(row.related_reference),
      receivedAt: Number(row.received_at),
      attempt,
      tries: attempt - Number(row.base_attempt),
      losses: Number(row.losses),
      run: Number(row.run),
      part: Number(row.part),
      contentHash: hexOrNull(row.content_hash),
      headers,
      body,
    })
  }
  const seqs = JSON.stringify(claimed.map(({ lease }) => lease.seq))
  log.run(lease, random, options.worker, log.now, log.now + options.leaseMs, seqs)
  return claimed
}
