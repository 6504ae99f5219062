/** Whether the connections of this process fit into those that the server allows. */
import type { Logger } from '../../log.js'
import type { Database } from './connection/database.js'
import { adhoc } from './connection/statement.js'

export interface Connections {
  /** For roles that are no superuser. */
  readonly room: number
  /** By all programs. */
  readonly used: number
}

export const MORE_CONNECTIONS =
  'Raise max_connections, lower maxConnections and maxTransactions of the store (or the size of its pool), or use a pooler.'

/** Every role may read these. */
const counts = `
select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0) as room,
  (select coalesce(sum(numbackends), 0) from pg_stat_database)::int as used`

export async function connectionsOf(db: Database): Promise<Connections> {
  const [row] = await db.query<Connections & Record<string, number>>(adhoc(counts), [])
  return row!
}

/** Behind a pooler the server counts the connections of the pooler. */
export async function warnOfFewConnections(db: Database, log: Logger): Promise<void> {
  if (db.sessions.shared) return
  const { room, used } = await connectionsOf(db)
  const needed = db.connections
  if (used + needed <= room) return
  log.warn(
    { step: 'open', needed, used, room },
    `this process may open ${needed} connections; the server allows ${room}, and ${used} are in use. ${MORE_CONNECTIONS}`,
  )
}
