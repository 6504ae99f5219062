/**
 * Whether the sessions of the server belong to our connections. Behind a pooler in transaction mode (PgBouncer, and most
 * hosted databases) each transaction may run in another session: a statement that was prepared under a name, a session
 * setting or LISTEN then reaches a session that somebody else uses. There, statements have no name, and each transaction
 * contains its settings.
 *
 * A pooler is recognised by the number of the server's process: a pooler gives its clients keys of its own, so the number
 * that a client was given is not the one that the session has.
 */
import type { ClientBase, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import type { Logger } from '../../log.js'
import { answerOf, corked } from './connection.js'
import { isPipelined } from './turns.js'

export interface Sessions {
  /** Whether statements are prepared under a name. */
  readonly named: boolean
  /** Whether transactions of other clients may run in the sessions of our connections. */
  readonly shared: boolean
  /** Whether a setting of a session stays with its connection. False until a session was examined. */
  readonly own: boolean
  /** Prepares a new connection of the log for its statements. */
  configure(client: ClientBase, limitMs: number): Promise<void>
  /** `begin` for statements of the log, with the settings that a shared session lacks. */
  begin(idleMs: number): string
  /** A session did not know a statement by its name: from now on sessions are treated as shared. */
  statementLost(): void
  /** The logger, from now on. */
  logTo(log: Logger): void
}

export interface SessionOptions {
  /** Names for statements: true and false are the user's choice, undefined depends on what is found. */
  readonly prepare: boolean | undefined
  readonly hasDirectUrl: boolean
}

/** Connections of the log that have their settings. */
const configured = new WeakSet<ClientBase>()

export function createSessions({ prepare, hasDirectUrl }: SessionOptions): Sessions {
  let state: 'unknown' | 'own' | 'shared' = 'unknown'
  let isNameLost = false
  let synchronousCommit = 'on'
  let log: Logger | undefined
  /** The line that says what was chosen, until a logger is there. */
  let report: (() => void) | undefined

  function share(why: string): void {
    if (state === 'shared' && why !== LOST) return
    state = 'shared'
    report = () => {
      const isChosen = prepare !== undefined && hasDirectUrl
      const fields = {
        step: 'open',
        prepared: sessions.named,
        wakeups: hasDirectUrl ? 'directUrl' : 'polling',
      }
      log![isChosen && why !== LOST ? 'info' : 'warn'](
        fields,
        `${why}: ${choices(sessions.named, hasDirectUrl)}`,
      )
    }
    say()
  }

  function say(): void {
    if (!log || !report) return
    report()
    report = undefined
  }

  const sessions: Sessions = {
    get named() {
      if (isNameLost) return false
      return prepare ?? state === 'own'
    },
    get shared() {
      return state === 'shared'
    },
    get own() {
      return state === 'own'
    },
    async configure(client, limitMs) {
      if (configured.has(client)) return
      const { rows } = await answerOf(client.query(examine(client)), limitMs)
      const { own, synchronous_commit: found } = rows[0] as { own: boolean; synchronous_commit: string }
      synchronousCommit = found === 'off' ? 'on' : found
      if (!own) {
        // The three commands of a transaction are then one round trip.
        if ('pipeline' in client) (client as { pipeline: boolean }).pipeline = true
        share('The database is behind a connection pooler')
      } else if (state === 'unknown') state = 'own'
      configured.add(client)
    },
    begin(idleMs) {
      const idle = `set local idle_in_transaction_session_timeout = ${Math.round(idleMs + GRACE_MS)}`
      if (state !== 'shared') return `${BEGIN}; ${idle}`
      return `${BEGIN}; ${idle}; set local enable_seqscan = off; set local jit = off;
        set local plan_cache_mode = force_generic_plan; set local search_path = pg_catalog, pg_temp;
        set local statement_timeout = 0; set local lock_timeout = 0; ${LOCAL_FORMATS};
        set local synchronous_commit = ${synchronousCommit}`
    },
    statementLost() {
      if (isNameLost) return
      isNameLost = true
      share(LOST)
    },
    logTo(next) {
      log = next
      say()
    },
  }
  return sessions
}

const LOST = 'A connection pooler changed the session of a connection'

function choices(named: boolean, hasDirectUrl: boolean): string {
  const statements = named
    ? 'statements are prepared under names, as `prepare: true` asks'
    : 'statements are sent without names'
  const wakeups = hasDirectUrl
    ? 'notifications and migrations use directUrl'
    : 'other processes find new events by polling; set directUrl to an address that avoids the pooler to be notified'
  return `${statements}; ${wakeups} (docs/postgresql.md)`
}

/** The number of the session's process that the client was given. A compatible driver may not know it. */
function processOf(client: ClientBase): string {
  const { processID } = client as { processID?: number | null }
  return typeof processID === 'number' ? String(processID) : 'pg_backend_pid()'
}

/** Whether the session belongs to this connection. */
export async function isOwnSession(client: ClientBase, limitMs: number): Promise<boolean> {
  const { rows } = await answerOf(
    client.query(`select pg_catalog.pg_backend_pid() = ${processOf(client)} as own`),
    limitMs,
  )
  return (rows[0] as { own: boolean }).own
}

/**
 * Sets the session, if it is not shared.
 *
 * The formats: a database or a role may have others as its defaults, and times would be read wrong.
 * synchronous_commit: an acknowledgement promises a flushed commit, also where the server's default is `off` (promise 1).
 * enable_seqscan: every statement of the log goes through an index. A generic plan that was made while a table was small
 * must not scan the table after it has grown. jit and plan_cache_mode: compiling these plans, or planning again for each
 * call, costs more than running them. search_path: functions of the same name elsewhere must not be called.
 * statement_timeout and lock_timeout: the store limits the time of each statement itself. The server's limit would also
 * end the wait of a commit for its synchronous standby, and then report the commit as a success.
 */
function examine(client: ClientBase): string {
  const isOwn = `pg_catalog.pg_backend_pid() = ${processOf(client)}`
  const set = (name: string, value: string) => `pg_catalog.set_config('${name}', '${value}', false)`
  return `select ${isOwn} as own, pg_catalog.current_setting('synchronous_commit') as synchronous_commit,
  case when ${isOwn} then pg_catalog.concat(
    ${set('enable_seqscan', 'off')}, ${set('jit', 'off')}, ${set('plan_cache_mode', 'force_generic_plan')},
    ${set('default_transaction_isolation', 'read committed')}, ${set('lock_timeout', '0')},
    ${set('statement_timeout', '0')}, ${formats.map(([name, value]) => set(name, value)).join(', ')},
    case when pg_catalog.current_setting('synchronous_commit') = 'off' then ${set('synchronous_commit', 'on')} end,
    ${set('search_path', 'pg_catalog, pg_temp')}) end as settings`
}

/** The formats that the parsers of values and the text of our SQL need. */
const formats = [
  ['datestyle', 'ISO, YMD'],
  ['extra_float_digits', '1'],
  ['standard_conforming_strings', 'on'],
] as const

/** The formats as settings of a transaction. */
export const LOCAL_FORMATS = formats.map(([name, value]) => `set local ${name} = ${value}`).join('; ')

/**
 * The level is named, because a database or a role may have another one as its default. Leases and lanes need a snapshot for
 * each statement: with one for the whole transaction, a heartbeat would make its end fail, and an event that was parked
 * in the meantime would not be seen.
 */
export const BEGIN = 'begin isolation level read committed'

const GRACE_MS = 5_000

/**
 * `begin` with a limit on idle time. When a connection is lost between two statements without an error, the server would
 * keep the transaction and its locks until the operating system notices, which takes hours. The setting is local to the
 * transaction, so that the session stays as it was.
 */
export function beginIdleFor(idleMs: number): string {
  return `${BEGIN}; set local idle_in_transaction_session_timeout = ${Math.round(idleMs + GRACE_MS)}`
}

/** The limit on idle time that the session of a connection has, in ms. */
const idleLimits = new WeakMap<ClientBase, number>()

/**
 * The same for a connection of our own pool: the limit is a setting of its session and is sent when it changes. A `set local`
 * in each transaction took 5 % of the time of the server. Returns the answer to `begin`.
 */
export function beginInOwnSession(client: ClientBase, idleMs: number): Promise<unknown> {
  const limitMs = Math.round(idleMs + GRACE_MS)
  if (idleLimits.get(client) !== limitMs) {
    idleLimits.delete(client)
    client.query(`set idle_in_transaction_session_timeout = ${limitMs}`).then(
      () => idleLimits.set(client, limitMs),
      () => {}, // a broken connection: `begin` fails too
    )
  }
  return client.query(BEGIN)
}

/** Sends begin, the statement and commit. On a pipelined connection this is one round trip. */
export async function transact<Row extends QueryResultRow>(
  client: PoolClient,
  begin: string,
  query: QueryConfig,
): Promise<QueryResult<Row>> {
  if (isPipelined(client)) {
    process.nextTick(corked(client))
    const [began, answered, ended] = await Promise.allSettled([
      client.query(begin),
      client.query<Row>(query),
      client.query('commit'),
    ])
    // The first failure is the cause. PostgreSQL turns the commit after it into a rollback.
    for (const step of [began, answered, ended]) if (step.status === 'rejected') throw step.reason
    return (answered as PromiseFulfilledResult<QueryResult<Row>>).value
  }
  await client.query(begin)
  let failure: unknown
  try {
    const answer = await client.query<Row>(query)
    await client.query('commit')
    return answer
  } catch (error) {
    failure = error
  }
  await client.query('rollback').catch(() => {})
  throw failure
}
