/** ping on PostgreSQL, on the connections that `record` uses. */
import { HookonceError } from '../../errors.js'
import { createPing } from '../shared/ping.js'
import type { Database } from './database.js'
import type { Statement } from './statement.js'

/** Fails when the schema is missing. `read_only`: a standby answers reads but cannot record. */
const look: Statement = {
  name: 'ping',
  sql: `
select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only, last_value
from hookonce.event_seq`,
}

/** Waits as `record` would when another session has locked one of its tables. */
const lock: Statement = {
  name: '',
  sql: 'lock table hookonce.events, hookonce.payloads, hookonce.work, hookonce.hours in row exclusive mode',
}

const write: Statement = {
  name: 'ping_write',
  sql: `
insert into hookonce.probe (id, filler) values (1, decode(repeat('00', $1::int), 'hex'))
on conflict (id) do update set filler = excluded.filler`,
}

export function pinger(db: Database) {
  return createPing({
    async look() {
      const [row] = await db.query<{ read_only: boolean }>(look, [])
      if (row!.read_only) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'the server is read-only' })
    },
    probe: (bytes) =>
      db.atomic(async (run) => {
        await run(lock, [])
        await run(write, [bytes])
      }),
  })
}
