/**
 * The three pools of a store. The log's own statements run on a small pool that only the log uses, so that handlers that
 * take every connection of the application's pool stop neither intake nor leases. Reads have another one. Transactions of
 * handlers run on the application's pool.
 */
import type { Pool, PoolConfig } from 'pg'
import pg from 'pg'
import { invalid } from '../../errors.js'
import { anyValue, checkOptions, type Rule, shape } from '../../options.js'
import { checkCount } from '../../store/input.js'
import { parseAddress } from './address.js'
import { keepAlive, PromptClient, quiet, surviveAll } from './connection.js'
import { choosingClient } from './hosts.js'

export interface PostgresOptions {
  /**
   * The address of the database, `postgres://user@host/db`, or `env('DATABASE_URL')`. Either this or `pool`. Its query
   * may contain sslmode, sslrootcert, sslcert, sslkey, target_session_attrs (with several hosts), schema, prepare and directUrl.
   */
  readonly url?: string | (() => string)
  /** The password, or a function that is called for each new connection, for passwords that change. Not with `pool`. */
  readonly password?: string | (() => string | Promise<string>)
  /** TLS options of Node, as node-postgres takes them. Not with `pool`. Default: those of the URL. */
  readonly ssl?: PoolConfig['ssl']
  /** The application's pool. Transactions of handlers use it; the log opens a few other connections for itself. */
  readonly pool?: Pool
  /** Default `hookonce`. */
  readonly schema?: string
  /** Connections for the log's own statements. Default 6. */
  readonly maxConnections?: number
  /** Connections for handlers' transactions when only `url` is given. Default 10. */
  readonly maxTransactions?: number
  /** Connections for reads (lists, statistics, payloads). Reads wait for each other and never for intake. Default 3. */
  readonly maxReads?: number
  /** The server cancels a read that takes longer; the call throws STORE_BUSY. Default 5,000. */
  readonly readTimeoutMs?: number
  /**
   * An address of the same database that avoids the pooler, for notifications, migrations and maintenance. Default: none;
   * behind a pooler, other processes then find new events by polling.
   */
  readonly directUrl?: string
  /**
   * Whether statements are prepared under names. Default: yes, unless the database is behind a pooler. Set true for a
   * pooler that supports prepared statements or gives each client a session, false for one that is not recognised.
   */
  readonly prepare?: boolean
  /** A statement of the log without an answer after this time is an outage: its connection is destroyed. Default 10,000. */
  readonly statementTimeoutMs?: number
  /** The time range of one partition of payloads. It can be changed on a log with data. Default `month`. */
  readonly partitions?: 'month' | 'day'
  /** Delay before counts of duplicates are written. Default 1,000. */
  readonly duplicateFlushMs?: number
}

export interface Pools {
  readonly log: Pool
  readonly reads: Pool
  readonly transactions: Pool
  /** The options of connections to `directUrl`, if there is one. */
  readonly direct: PoolConfig | undefined
  /** Ends the pools for the log and for transactions. The application's own pool stays open. */
  end(): Promise<void>
}

const optionNames = shape({
  url: anyValue,
  password: anyValue,
  ssl: anyValue,
  pool: anyValue,
  schema: anyValue,
  maxConnections: anyValue,
  maxTransactions: anyValue,
  maxReads: anyValue,
  readTimeoutMs: anyValue,
  directUrl: anyValue,
  prepare: anyValue,
  statementTimeoutMs: anyValue,
  partitions: anyValue,
  duplicateFlushMs: anyValue,
} satisfies Record<keyof PostgresOptions, Rule>)

/** The options with those of the URL, which an option of the same name overrides. */
export function settled(options: PostgresOptions): PostgresOptions {
  checkOptions('postgres(options)', options, optionNames)
  if ((options.url === undefined) === !options.pool)
    throw invalid('postgres()', 'needs either `url` or `pool`')
  if (options.pool && (options.password ?? options.ssl) !== undefined)
    throw invalid('postgres()', 'takes `password` and `ssl` with `url` only; set them on the pool')
  if (options.directUrl !== undefined) parseAddress(options.directUrl, '`directUrl`')
  return options.url === undefined ? options : { ...parseAddress(urlOf(options)).options, ...options }
}

export function openPools(options: PostgresOptions): Pools {
  const log = logPool(options)
  const transactions =
    options.pool ??
    quiet(
      new pg.Pool({
        ...connection(options, urlOf(options)),
        pipeline: true,
        max: options.maxTransactions ?? 10,
      }),
    )
  const reads = readPool(options)
  const leave = options.pool ? surviveAll(options.pool) : undefined
  return {
    log,
    reads,
    transactions,
    direct:
      options.directUrl === undefined ? undefined : connection(options, options.directUrl, '`directUrl`'),
    async end() {
      leave?.()
      await Promise.all([log.end(), options.pool ? undefined : transactions.end()])
    },
  }
}

function logPool(options: PostgresOptions): Pool {
  return quiet(
    new pg.Pool({
      ...(options.pool ? configOf(options.pool) : connection(options, urlOf(options))),
      max: options.maxConnections ?? 6,
    }),
  )
}

function readPool(options: PostgresOptions): Pool {
  const max = options.maxReads ?? 3
  checkCount('maxReads', max, 1_000)
  return quiet(
    new pg.Pool({
      ...(options.pool ? configOf(options.pool) : connection(options, urlOf(options))),
      pipeline: true,
      max,
    }),
  )
}

export function readTimeoutMs({ readTimeoutMs = 5_000 }: PostgresOptions): number {
  checkCount('readTimeoutMs', readTimeoutMs, 600_000)
  return readTimeoutMs
}

/** What `url` is, or what its function returns; `parseAddress` checks it. */
function urlOf({ url = '' }: PostgresOptions): string {
  return typeof url === 'function' ? url() : url
}

function connection({ password, ssl }: PostgresOptions, url: string, what?: string): PoolConfig {
  const { urls, readWrite } = parseAddress(url, what)
  return {
    connectionString: urls[0],
    ...(password === undefined ? {} : { password }),
    ...(ssl === undefined ? {} : { ssl }),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // An inbox that was stopped must not keep its process alive until idle connections are closed.
    allowExitOnIdle: true,
    ...keepAlive,
    Client: urls.length > 1 || readWrite ? choosingClient(urls, readWrite) : PromptClient,
    application_name: 'hookonce',
  }
}

/** The options of the application's pool, for another pool. node-postgres makes password and ssl non-enumerable. */
function configOf(pool: Pool): PoolConfig {
  const { password, ssl } = pool.options as PoolConfig
  const copied: PoolConfig = {
    Client: PromptClient,
    ...pool.options,
    connectionTimeoutMillis: 5_000,
    allowExitOnIdle: true,
    ...keepAlive,
  }
  if (password !== undefined) copied.password = password
  if (ssl !== undefined) copied.ssl = ssl
  return copied
}
