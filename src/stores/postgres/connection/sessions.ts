/**
 * Finds out whether the sessions of the server belong to our connections. Behind a pooler in transaction mode (PgBouncer,
 * and most hosted databases) each transaction may run in another session: a prepared statement, a session setting or
 * LISTEN then reaches a session that somebody else uses. There, statements have no name, and each transaction contains
 * its settings.
 *
 * A pooler invents the process numbers of its clients, so the number of a client is not the one that its session has.
 */
import type { ClientBase } from 'pg'
import type { Logger } from '../../../log.js'
import { answerOf } from './client.js'
import { beginSql, logSettings } from './settings.js'

export interface SessionOptions {
  readonly prepare: boolean | undefined
  readonly hasDirectUrl: boolean
}

const findings = {
  shared: 'The database is behind a connection pooler',
  lost: 'A connection pooler changed the session of a connection',
}

/**
 *   unknown  no session was examined yet
 *   own      a setting of a session stays with its connection
 *   shared   transactions of other clients may run in the session
 *   lost     shared, and a session did not know a statement by its name
 */
export class Sessions {
  readonly #options: SessionOptions
  #state: 'unknown' | 'own' | keyof typeof findings = 'unknown'
  readonly #configured = new WeakSet<ClientBase>()
  #synchronousCommit = 'on'
  #logger: Logger | undefined
  #isReported = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get named(): boolean {
    return this.#state !== 'lost' && (this.#options.prepare ?? this.own)
  }

  get shared(): boolean {
    return this.#state === 'shared' || this.#state === 'lost'
  }

  get own(): boolean {
    return this.#state === 'own'
  }

  /** Undefined when the connection has its settings already. */
  configure(client: ClientBase, limitMs: number): Promise<void> | undefined {
    return this.#configured.has(client) ? undefined : this.#examine(client, limitMs)
  }

  begin(idleMs: number): string {
    if (!this.shared) return beginSql(idleMs)
    return beginSql(idleMs, { ...logSettings, synchronous_commit: this.#synchronousCommit })
  }

  statementLost(): void {
    if (this.#state !== 'lost') this.#find('lost')
  }

  logTo(logger: Logger): void {
    this.#logger = logger
    this.#report()
  }

  /** A role or a database may not flush by default, but an acknowledgement promises a flushed commit (promise 1). */
  async #examine(client: ClientBase, limitMs: number): Promise<void> {
    const isOwn = ownSessionSql(client)
    const commit = `pg_catalog.current_setting('synchronous_commit')`
    const set = (name: string, value: string | number) =>
      `pg_catalog.set_config('${name}', '${value}', false)`
    const changes = Object.entries({ ...logSettings, default_transaction_isolation: 'read committed' })
    const sql = `select ${isOwn} as own, ${commit} as synchronous_commit, case when ${isOwn} then pg_catalog.concat(
      case when ${commit} = 'off' then ${set('synchronous_commit', 'on')} end,
      ${changes.map(([name, value]) => set(name, value)).join(', ')}) end as settings`
    const { rows } = await answerOf(client.query<{ own: boolean; synchronous_commit: string }>(sql), limitMs)
    const { own, synchronous_commit: found } = rows[0]!
    this.#synchronousCommit = found === 'off' ? 'on' : found
    if (!own) {
      // The three commands of a transaction are then one round trip.
      if ('pipeline' in client) (client as { pipeline: boolean }).pipeline = true
      if (!this.shared) this.#find('shared')
    } else if (this.#state === 'unknown') this.#state = 'own'
    this.#configured.add(client)
  }

  #find(finding: keyof typeof findings): void {
    this.#state = finding
    this.#isReported = false
    this.#report()
  }

  #report(): void {
    if (this.#logger === undefined || this.#isReported) return
    if (this.#state === 'unknown' || this.#state === 'own') return
    const { prepare, hasDirectUrl } = this.#options
    const isChosen = prepare !== undefined && hasDirectUrl && this.#state === 'shared'
    this.#logger[isChosen ? 'info' : 'warn'](
      { step: 'open', prepared: this.named, wakeups: hasDirectUrl ? 'directUrl' : 'polling' },
      `${findings[this.#state]}: ${choices(this.named, hasDirectUrl)}`,
    )
    this.#isReported = true
  }
}

function choices(named: boolean, hasDirectUrl: boolean): string {
  const statements = named
    ? 'statements are prepared under names, as `prepare: true` asks'
    : 'statements are sent without names'
  const wakeups = hasDirectUrl
    ? 'notifications and migrations use directUrl'
    : 'other processes find new events by polling; set directUrl to an address that avoids the pooler to be notified'
  return `${statements}; ${wakeups} (docs/postgresql.md)`
}

/** A compatible driver may not know its process number. */
function ownSessionSql(client: ClientBase): string {
  const { processID } = client as { processID?: number | null }
  const given = typeof processID === 'number' ? String(processID) : 'pg_catalog.pg_backend_pid()'
  return `pg_catalog.pg_backend_pid() = ${given}`
}

export async function isOwnSession(client: ClientBase, limitMs: number): Promise<boolean> {
  const sql = `select ${ownSessionSql(client)} as own`
  return (await answerOf(client.query<{ own: boolean }>(sql), limitMs)).rows[0]!.own
}
