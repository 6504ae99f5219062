/**
 * Waiting for the synchronous standby. PostgreSQL makes a commit wait until the standby has it, but when that wait is
 * cancelled (a time limit, an administrator), the commit is visible on the primary and missing on the standby. A failover
 * then loses the rows. So a record that wrote nothing because its rows are there already, and one that was sent again,
 * waits here: a message in the write-ahead log is a commit of its own, after every commit that was visible before it.
 */
import type { Database } from './database.js'
import { statement } from './statement.js'

export const awaitStandby = statement('await_standby')`
select s.waits, case when s.waits then pg_logical_emit_message(true, 'hookonce', '') end as lsn
from (select current_setting('synchronous_standby_names') <> '' as waits) s`

/** For how long a server that waits for no standby is not asked again. */
const ASK_AGAIN_MS = 1_000
/** As for the first try of a record: a sender waits for the answer. */
const LIMIT_MS = 2_500

/** Resolves when the standby has everything that is visible now; at once where commits wait for no standby. */
export function standbyWait(db: Database): () => Promise<void> {
  let notBefore = 0
  return async () => {
    if (performance.now() < notBefore) return
    const [row] = await db.query<{ waits: boolean }>(awaitStandby, [], Math.min(LIMIT_MS, db.timeoutMs))
    notBefore = row!.waits ? 0 : performance.now() + ASK_AGAIN_MS
  }
}
