/** The settings that the log needs, and transactions that begin with them. */
import type { ClientBase, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { corked, isPipelined } from './client.js'
import { isConnectionFailure } from './failure.js'

type Settings = Readonly<Record<string, string | number>>

/** Our parsers need these formats. The path hides functions with the names of ours. */
export const formats: Settings = {
  datestyle: 'ISO, YMD',
  extra_float_digits: 1,
  standard_conforming_strings: 'on',
  search_path: 'pg_catalog, pg_temp',
}

/**
 * enable_seqscan: a generic plan that was made while a table was small must not scan the table after it has grown. jit
 * and plan_cache_mode: compiling these plans, or planning again for each call, costs more than running them.
 * statement_timeout and lock_timeout: the server’s limit would also end the wait of a commit for its synchronous standby,
 * and then report the commit as a success. The store limits the time of each statement.
 */
export const logSettings: Settings = {
  ...formats,
  enable_seqscan: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: 0,
  lock_timeout: 0,
}

export function setSql(settings: Settings, how: 'set' | 'set local'): string {
  return Object.entries(settings)
    .map(([name, value]) => `${how} ${name} = ${value}`)
    .join('; ')
}

const GRACE_MS = 5_000

/**
 * The default of a database may be another level. Leases and lanes need a snapshot for each statement: with one for the
 * whole transaction, a heartbeat would make its end fail, and an event that was parked in the meantime would not be seen.
 */
const BEGIN = 'begin isolation level read committed'

/**
 * Limits idle time: when a connection is lost without an error, the server would keep the transaction and its locks until
 * the operating system notices, which takes hours.
 */
export function beginSql(idleMs: number, settings: Settings = {}, mode: '' | ' read only' = ''): string {
  const idle = { idle_in_transaction_session_timeout: Math.round(idleMs + GRACE_MS) }
  return `${BEGIN}${mode}; ${setSql({ ...idle, ...settings }, 'set local')}`
}

const idleLimits = new WeakMap<ClientBase, number>()

/** The limit is sent when it changes: a `set local` in each transaction took 5 % of the server’s time. */
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

export async function inTransaction<T>(
  begin: string,
  command: (sql: string) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  await command(begin)
  try {
    const value = await work()
    await command('commit')
    return value
  } catch (error) {
    // A failure of the rollback replaces the cause, because it decides whether the connection is destroyed.
    if (!isConnectionFailure(error)) await command('rollback')
    throw error
  }
}

/** On a pipelined connection this is one round trip. */
export async function transact<Row extends QueryResultRow>(
  client: PoolClient,
  begin: string,
  query: QueryConfig,
): Promise<QueryResult<Row>> {
  const command = (sql: string) => client.query(sql)
  if (!isPipelined(client)) return inTransaction(begin, command, () => client.query<Row>(query))
  process.nextTick(corked(client))
  const steps = [command(begin), client.query<Row>(query), command('commit')] as const
  const [began, answered, ended] = await Promise.allSettled(steps)
  // The first failure is the cause. PostgreSQL turns the commit after it into a rollback.
  for (const step of [began, answered, ended]) if (step.status === 'rejected') throw step.reason
  return (answered as PromiseFulfilledResult<QueryResult<Row>>).value
}
