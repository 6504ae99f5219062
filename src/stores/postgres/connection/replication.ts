/**
 * A commit waits until the synchronous standby has it. When that wait is cancelled (a time limit, an administrator), the
 * commit is visible, but a failover loses its rows. So a record that found its rows, or was sent again, waits here. A
 * message in the write-ahead log is a new commit, after every commit that was visible before it.
 */
import type { Database } from './database.js'
import { statement } from './statement.js'

export const awaitStandby = statement('await_standby')`
select s.waits, case when s.waits then pg_logical_emit_message(true, 'hookonce', '') end as lsn
from (select current_setting('synchronous_standby_names') <> '' as waits) s`

/** A server that waits for no standby is not asked again for this long. */
const ASK_AGAIN_MS = 1_000
/** A sender waits for the answer. */
const LIMIT_MS = 2_500

/** Resolves when the standby has everything that is visible now. */
export function standbyWait(db: Database): () => Promise<void> {
  let notBefore = 0
  return async () => {
    if (performance.now() < notBefore) return
    const [row] = await db.query<{ waits: boolean }>(awaitStandby, [], Math.min(LIMIT_MS, db.timeoutMs))
    notBefore = row!.waits ? 0 : performance.now() + ASK_AGAIN_MS
  }
}
