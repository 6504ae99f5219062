import { HookonceError } from '../../errors.js'
import { createPing } from '../shared/ping.js'
import type { Database } from './connection/database.js'
import { describe } from './connection/failure.js'
import { hiddenRows } from './connection/privileges.js'
import { adhoc, statement } from './connection/statement.js'

/** A standby answers reads but cannot record. Row-level security would hide events without an error. */
const look = statement('ping')`
select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only, last_value,
  extract(epoch from hookonce.clock())::float8 * 1000 as now,
  row_security_active('hookonce.events') or row_security_active('hookonce.work') as hidden
from hookonce.event_seq`

/** Waits as `record` would when another session has locked one of its tables. */
const lock = adhoc(
  'lock table hookonce.events, hookonce.payloads, hookonce.work, hookonce.hours in row exclusive mode',
)

const write = statement('ping_write')`
insert into hookonce.probe (id, filler) values (1, decode(repeat('00', $1::int), 'hex'))
on conflict (id) do update set filler = excluded.filler`

export function pinger(db: Database) {
  return createPing({
    async look() {
      const [row] = await db.query<{ read_only: boolean; hidden: boolean; now: number }>(look, [])
      if (row!.read_only)
        throw new HookonceError('STORE_UNAVAILABLE', { problem: describe({ code: '25006' }) })
      if (row!.hidden) throw hiddenRows('events')
      return row!.now
    },
    probe: (bytes) =>
      db.atomic(async (run) => {
        await run(lock, [])
        await run(write, [bytes])
      }),
  })
}
