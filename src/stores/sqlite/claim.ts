/**
 * Claim: takes due events, fair between sources, oldest due first, of a lane only its head. Nothing is written when
 * nothing is due, so idle workers cost the disk nothing.
 */
import { randomUUID } from 'node:crypto'
import type { ClaimedEvent, ClaimOptions } from '../../model.js'
import { writeLostAttempt } from './attempt-rows.js'
import type { Connection } from './connection.js'
import type { Row } from './driver.js'
import { claimColumns, dueSources, pickFairly } from './due.js'
import { textOrNull } from './event-row.js'

/** Bodies handed over by one claim, together; a single larger one still goes. Bounds memory, not correctness. */
const CLAIM_BYTES = 32 * 1024 * 1024

export function claim(connection: Connection, now: number, options: ClaimOptions): ClaimedEvent[] {
  if (options.event) {
    if (named(connection, now, options) === undefined) return []
    return connection.write(() => {
      const row = named(connection, now, options)
      return row === undefined ? [] : take(connection, now, options, [row])
    })
  }
  if (dueSources(connection, now, options.sources).length === 0) return []
  // Looked at again under the lock: another process may have been faster.
  return connection.write(() => {
    const sources = dueSources(connection, now, options.sources)
    return take(connection, now, options, pickFairly(connection, now, sources, options.limit))
  })
}

const byKey = `${claimColumns('?3')}
  where e.source = ?1 and e.event_id = ?2 and (w.token is null or w.next_at <= ?3)`

function named(connection: Connection, now: number, { event }: ClaimOptions): Row | undefined {
  const row = connection.prepare(byKey).get(event!.source, event!.eventId, now)
  return row?.blocked !== 0 ? undefined : row
}

// One statement for all: the random part is new with each claim, the seq makes the token each event's own.
const lease = `
  update hookonce_work set token = ?1 || '.' || seq, worker = ?2, claimed_at = ?3, attempt = attempt + 1,
    next_at = ?4
  where seq in (select value from json_each(?5))`
const payloadBySeq = 'select headers, body from hookonce_payloads where seq = ?'

function take(
  connection: Connection,
  now: number,
  options: ClaimOptions,
  rows: readonly Row[],
): ClaimedEvent[] {
  // Events of one delivery share its bytes here too.
  const payloads = new Map<number, Pick<ClaimedEvent, 'headers' | 'body'>>()
  let bytes = 0
  const payloadOf = (seq: number) => {
    let payload = payloads.get(seq)
    if (payload === undefined) {
      const row = connection.prepare(payloadBySeq).get(seq)
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
    if (bytes > CLAIM_BYTES && claimed.length > 0) break
    writeLostAttempt(connection, row)
    const attempt = Number(row.attempt) + 1
    claimed.push({
      source: String(row.source),
      eventId: String(row.event_id),
      lease: { seq, token: `${random}.${seq}` },
      eventType: String(row.event_type),
      reference: textOrNull(row.related_reference),
      receivedAt: Number(row.received_at),
      attempt,
      tries: attempt - Number(row.base_attempt),
      losses: Number(row.losses),
      run: Number(row.run),
      part: Number(row.part),
      headers,
      body,
    })
  }
  const seqs = JSON.stringify(claimed.map(({ lease }) => lease.seq))
  connection.prepare(lease).run(random, options.worker, now, now + options.leaseMs, seqs)
  return claimed
}
