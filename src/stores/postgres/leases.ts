/**
 * extend and release change nothing when the lease has expired.
 *
 * Pinned leases get no heartbeat. A transaction above READ COMMITTED sees its work row as it was at its first statement:
 * if a heartbeat then changes the row, the transaction cannot settle any more (40001). Its leases are extended once, for
 * as long as its handler may take.
 */
import type { Lease } from '../../model.js'
import type { Database } from './connection/database.js'
import { numbers, statement, texts } from './connection/statement.js'
import { alive } from './work.js'

/** $1 seqs   $2 tokens. Locks the work rows of the leases that are alive. */
export const liveLeases = `
live as materialized (
  select w.seq, i.n
  from unnest($1::bigint[], $2::uuid[]) with ordinality as i (seq, token, n)
  join hookonce.work w on w.seq = i.seq and w.token = i.token and ${alive}
  order by w.seq for update of w
)`

/** $3 time in ms */
const change = (name: string, sets: string) => statement(name)`
with ${liveLeases},
moved as (
  update hookonce.work w set ${sets}next_at = hookonce.clock() + make_interval(secs => $3::float8 / 1000)
  from live l where w.seq = l.seq
)
select n::int from live`
const extendBatch = change('extend', '')
// The claim counted an attempt that never began.
const releaseBatch = change('release', 'token = null, attempt = w.attempt - 1, ')

export async function release(db: Database, leases: readonly Lease[], delayMs: number): Promise<boolean[]> {
  return applied(leases.length, await db.query(releaseBatch, [...leaseValues(leases), delayMs]))
}

export class Heartbeats {
  readonly #db: Database
  readonly #pinned = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(db: Database) {
    this.#db = db
  }

  /** A pinned lease counts as alive: its settlement finds out whether it is. */
  async extend(leases: readonly Lease[], leaseMs: number): Promise<boolean[]> {
    const isPinned = leases.map(({ token }) => this.#pinned.has(token))
    const sent = this.#send(
      leases.filter((_, i) => !isPinned[i]),
      leaseMs,
    )
    const ended: Promise<unknown> = sent.catch(() => {}).finally(() => this.#underWay.delete(ended))
    this.#underWay.add(ended)
    const extended = (await sent).values()
    return isPinned.map((one) => one || extended.next().value!)
  }

  /** Extends the leases once. Never fails. */
  async pin(leases: readonly Lease[], forMs: number): Promise<void> {
    for (const { token } of leases) this.#pinned.add(token)
    // A heartbeat that was sent before would change the row after the first statement of the transaction.
    await Promise.all(this.#underWay)
    await this.#send(leases, forMs).catch(() => {})
  }

  unpin(leases: readonly Lease[]): void {
    for (const { token } of leases) this.#pinned.delete(token)
  }

  async #send(leases: readonly Lease[], leaseMs: number): Promise<boolean[]> {
    if (leases.length === 0) return []
    // The next heartbeat, on another connection, still finds the leases alive after a timeout.
    const limitMs = Math.min(this.#db.timeoutMs, Math.max(1_000, leaseMs / 3))
    return applied(
      leases.length,
      await this.#db.query(extendBatch, [...leaseValues(leases), leaseMs], limitMs),
    )
  }
}

export function leaseValues(leases: readonly Lease[]): [string, string] {
  return [numbers(leases.map((lease) => lease.seq)), texts(leases.map((lease) => tokenOf(lease.token)))]
}

/** Whether the statement returned the number `n` of each input row. */
export function applied(count: number, rows: readonly { n?: number }[]): boolean[] {
  const result = new Array<boolean>(count).fill(false)
  for (const { n } of rows) result[n! - 1] = true
  return result
}

export const NO_TOKEN = '00000000-0000-0000-0000-000000000000'

/** A malformed token counts as expired: as a uuid parameter it would make the whole statement fail. */
export function tokenOf(token: string): string {
  return UUID.test(token) ? token : NO_TOKEN
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
