/**
 * Connections. The log's own statements run on a small pool that nobody else uses, so that handlers which hold
 * every connection of the application's pool stop neither intake nor leases. Handlers' transactions run on the
 * application's pool.
 */
import type {
  Client,
  ClientBase,
  ClientConfig,
  CustomTypesConfig,
  Pool,
  PoolClient,
  PoolConfig,
  QueryConfig,
  QueryResult,
  QueryResultRow,
} from 'pg'
import pg from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import { checkCount } from '../../store-input.js'
import { asHookonceError, isConnectionFailure, isRaceFailure, TIMED_OUT } from './failure.js'
import { openReads } from './reads.js'
import { type InSchema, inSchema } from './schema.js'

export interface PostgresOptions {
  /** Where the database is: `postgres://user@host/db`. Either this or `pool`. */
  readonly url?: string
  /** The application's own pool. Handlers' transactions use it; the log opens a few connections of its own beside it. */
  readonly pool?: Pool
  /** Default `hookonce`. */
  readonly schema?: string
  /** Connections for the log's own statements. Default 6. */
  readonly maxConnections?: number
  /** Connections for handlers' transactions when only `url` is given. Default 10. */
  readonly maxTransactions?: number
  /** Connections for reads: lists, statistics, payloads. They wait for each other and never hold up intake. Default 3. */
  readonly maxReads?: number
  /** The server ends a read that takes longer, with STORE_BUSY. Default 5,000. */
  readonly readTimeoutMs?: number
  /** Named prepared statements. Turn off behind a pooler that changes servers between transactions. Default true. */
  readonly prepare?: boolean
  /** A statement with no answer by then counts as an outage. Default 10,000. */
  readonly statementTimeoutMs?: number
  /** The time one partition of payloads covers. May be changed on a log with data. Default `month`. */
  readonly partitions?: 'month' | 'day'
  /** How long what is known about duplicates may wait to be written. Default 1,000. */
  readonly duplicateFlushMs?: number
}

export interface Statement {
  /** Prepared under this name; empty = not prepared. */
  readonly name: string
  readonly sql: string
}

export interface Database {
  readonly schema: string
  readonly inSchema: InSchema
  /** The most that this process may open: the log's own, those for reads, the handlers', and the one that listens. */
  readonly connections: number
  /** Runs one statement in a transaction of its own. Throws errors of our table. */
  query<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>
  /**
   * The same for statements that may be sent again after a broken connection because they recognise their own
   * work. Throws what the driver throws, for callers that tell failures apart.
   */
  resend<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** The same for SQL put together for one call. */
  adhoc<Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]>
  /** A read, on a connection that neither intake nor leases use. Bounded in time by the server. */
  read: Run
  /** Runs `work` between begin and commit on a connection of the log. */
  atomic<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** A connection of the application's pool. */
  connect(): Promise<PoolClient>
  /** A connection outside every pool, not connected yet: for listening. */
  client(): Client
  /** The statement as the driver takes it, for use on a client from `connect`. */
  prepared(statement: Statement, values: unknown[]): QueryConfig
  close(): Promise<void>
}

export type Run = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>

export function openDatabase(options: PostgresOptions): Database {
  if (!options.url === !options.pool) throw invalid('A PostgreSQL store', 'give it either url or pool')
  const schema = options.schema ?? 'hookonce'
  const toSchema = inSchema(schema)
  const timeoutMs = options.statementTimeoutMs ?? 10_000
  const log = logPool(options)
  const ours = options.pool === undefined
  const transactions =
    options.pool ??
    quiet(new pg.Pool({ ...connection(options.url!), pipeline: true, max: options.maxTransactions ?? 10 }))
  const reads = openReads(readPool(options), { timeoutMs: readTimeoutMs(options), prepared })
  const texts = new Map<string, string>()
  let closed = false
  let underWay = 0
  let whenIdle: (() => void) | undefined

  function prepared({ name, sql }: Statement, values: unknown[]) {
    let text = texts.get(sql)
    if (text === undefined) {
      text = toSchema(sql).trim()
      if (name) texts.set(sql, text)
    }
    const query = { text, values, types: valueTypes }
    return options.prepare === false || !name ? query : { ...query, name: `hookonce_${schema}_${name}` }
  }

  async function send(client: PoolClient, statement: Statement, values: unknown[]): Promise<QueryResult> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject({ code: TIMED_OUT }), timeoutMs)
    })
    const answer = client.query(prepared(statement, values))
    answer.catch(() => {}) // when the timer wins, the late failure of a destroyed connection is nobody's
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Hands out a connection of the log; one that failed is destroyed, because its state is not known. */
  async function using<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    underWay++
    try {
      const client = survive(await log.connect())
      let broken = false
      try {
        if (!settled.has(client)) {
          await client.query(sessionSettings)
          settled.add(client)
        }
        return await work(client)
      } catch (error) {
        broken = isConnectionFailure(error)
        throw error
      } finally {
        client.release(broken)
      }
    } finally {
      if (--underWay === 0) whenIdle?.()
    }
  }

  async function attempt<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    resend: boolean,
  ) {
    for (let tries = 1; ; tries++) {
      let sent = false
      try {
        return await using(async (client) => {
          sent = true
          return (await send(client, statement, values)).rows as Row[]
        })
      } catch (error) {
        const again = isRaceFailure(error) || (resend && sent && isConnectionFailure(error))
        if (!again || tries === 3) throw error
        await new Promise((resolve) => setTimeout(resolve, 20 * tries * Math.random()))
      }
    }
  }

  function query<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return attempt<Row>(statement, values, false).catch((error) => {
      throw asHookonceError(error)
    })
  }

  return {
    schema,
    inSchema: toSchema,
    connections: log.options.max + reads.max + transactions.options.max + 1,
    prepared,
    client: () => new pg.Client(log.options as ClientConfig),
    connect: async () => {
      if (closed) throw new HookonceError('STORE_CLOSED')
      const client = await transactions.connect().catch((error) => {
        throw asHookonceError(error)
      })
      return survive(client)
    },
    query,
    read: reads.run,
    adhoc: (sql, values) => query({ name: '', sql }, values),
    resend: (statement, values) => attempt(statement, values, true),
    async atomic(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await using(async (client) => {
            await client.query('begin')
            try {
              const value = await work(
                async (statement, values) => (await send(client, statement, values)).rows,
              )
              await client.query('commit')
              return value
            } catch (error) {
              if (!isConnectionFailure(error)) await client.query('rollback')
              throw error
            }
          })
        } catch (error) {
          if (!isRaceFailure(error) || tries === 3) throw asHookonceError(error)
        }
      }
    },
    async close() {
      if (closed) return
      closed = true
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          whenIdle = resolve
        })
      }
      await Promise.all([log.end(), reads.close(), ours ? transactions.end() : undefined])
    },
  }
}

/** Numbers of the log stay below 2^53, and instants are milliseconds; the application's own parsers are left alone. */
const valueTypes: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number
    const parse = pg.types.getTypeParser(oid, format as 'text')
    if (oid === pg.types.builtins.TIMESTAMPTZ) return (value: string) => Number(parse(value))
    return parse
  },
}

/**
 * An acknowledgement promises a flushed commit, also where the server's default does not (promise 1). Every statement
 * of the log goes through an index; a plan made while a table was small must not become a scan when it has grown, and
 * compiling such plans costs more than running them, as does planning them anew each time.
 */
const sessionSettings = `select set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
  set_config('plan_cache_mode', 'force_generic_plan', false),
  case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`

function logPool(options: PostgresOptions): Pool {
  return quiet(
    new pg.Pool({
      ...(options.pool ? configOf(options.pool) : connection(options.url!)),
      max: options.maxConnections ?? 6,
    }),
  )
}

function readPool(options: PostgresOptions): Pool {
  const max = options.maxReads ?? 3
  checkCount('maxReads', max, 1_000)
  return quiet(
    new pg.Pool({
      ...(options.pool ? configOf(options.pool) : connection(options.url!)),
      pipeline: true,
      max,
    }),
  )
}

function readTimeoutMs({ readTimeoutMs = 5_000 }: PostgresOptions): number {
  checkCount('readTimeoutMs', readTimeoutMs, 600_000)
  return readTimeoutMs
}

function connection(url: string): PoolConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'hookonce',
  }
}

/** The same database with connections of our own. The password is kept out of the pool's enumerable options. */
function configOf(pool: Pool): PoolConfig {
  const { password, ssl } = pool.options as PoolConfig
  const copied: PoolConfig = { ...pool.options, connectionTimeoutMillis: 5_000, keepAlive: true }
  if (password !== undefined) copied.password = password
  if (ssl !== undefined) copied.ssl = ssl
  return copied
}

/** Connections of the log that have their session settings. */
const settled = new WeakSet<ClientBase>()
const surviving = new WeakSet<ClientBase>()

/**
 * A connection in use that breaks says so twice: to the statement, and as an event, which ends the process when nobody
 * listens. It may come after the connection was given back, so the listener stays for good.
 */
function survive<C extends ClientBase>(client: C): C {
  if (!surviving.has(client)) {
    surviving.add(client)
    client.on('error', () => {})
  }
  return client
}

/** An idle connection that breaks is replaced at its next use; without a listener it would end the process. */
function quiet(pool: Pool): Pool {
  return pool.on('error', () => {})
}
