import type { Pool, PoolConfig } from 'pg'
import pg from 'pg'
import type { Duration } from '../../../duration.js'
import { invalid } from '../../../errors.js'
import {
  anyText,
  callable,
  checkOptions,
  choice,
  duration,
  either,
  flag,
  isObject,
  type Rule,
  rule,
  shape,
  whole,
} from '../../../options.js'
import { parseAddress } from './address.js'
import { keepAlive, PromptClient } from './client.js'
import { choosingClient } from './hosts.js'

export interface PostgresOptions {
  /**
   * The address of the database, `postgres://user@host/db`, or `env('DATABASE_URL')`. Give either this or `pool`. Its
   * query may contain sslmode, sslrootcert, sslcert, sslkey, target_session_attrs (with several hosts), schema, prepare
   * and directUrl.
   */
  readonly url?: string | (() => string)
  /** The password. A function is called for each new connection, for passwords that change. Not with `pool`. */
  readonly password?: string | (() => string | Promise<string>)
  /** TLS options of Node, in the form of node-postgres. Not with `pool`. Default: those of the URL. */
  readonly ssl?: PoolConfig['ssl']
  /** The application's pool. Transactions of handlers use it; the log opens a few other connections for itself. */
  readonly pool?: Pool
  /** Default `hookonce`. */
  readonly schema?: string
  /** Connections for the log's own statements; half as many more are for reads (lists, statistics, payloads). Default 4. */
  readonly maxConnections?: number
  /** Connections for handlers' transactions when only `url` is given. Default 10, as `processing.concurrency`. */
  readonly maxTransactions?: number
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
  /**
   * A statement of the log without an answer after this time is an outage: its connection is destroyed. The server
   * cancels a read that takes longer, and the call throws STORE_BUSY. Default `'10s'`.
   */
  readonly statementTimeout?: Duration
  /** The time range of one partition of payloads. It can be changed on a log with data. Default `month`. */
  readonly partitions?: PartitionUnit
}

export type PartitionUnit = 'month' | 'day'

const textOrFunction = either(anyText, { ...callable, expected: 'a function that returns it' })
const connections = whole(1, 1_000)

const postgresRule = shape({
  url: textOrFunction,
  password: textOrFunction,
  ssl: either(flag, rule('the TLS options of Node', isObject)),
  pool: rule('a pool of node-postgres', (value) => isObject(value) && typeof value.connect === 'function'),
  schema: anyText,
  maxConnections: connections,
  maxTransactions: connections,
  directUrl: anyText,
  prepare: flag,
  statementTimeout: duration(1, 600_000),
  partitions: choice('month', 'day'),
} satisfies Record<keyof PostgresOptions, Rule>)

/** An option of the store overrides one of the URL. */
export function withUrlOptions(options: PostgresOptions): PostgresOptions {
  checkOptions('postgres(options)', options, postgresRule)
  if ((options.url === undefined) === !options.pool)
    throw invalid('postgres()', 'needs either `url` or `pool`')
  if (options.pool && (options.password ?? options.ssl) !== undefined)
    throw invalid('postgres()', 'takes `password` and `ssl` with `url` only; set them on the pool')
  if (options.directUrl !== undefined) parseAddress(options.directUrl, '`directUrl`')
  return options.url === undefined ? options : { ...parseAddress(urlOf(options)).options, ...options }
}

export function openPools(options: PostgresOptions) {
  const { pool, directUrl, maxConnections = 4, maxTransactions = 10 } = options
  const shared = pool ? configOf(pool) : connection(options, urlOf(options))
  return {
    log: new pg.Pool({ ...shared, max: maxConnections }),
    reads: new pg.Pool({ ...shared, pipeline: true, max: Math.ceil(maxConnections / 2) }),
    transactions: pool ?? new pg.Pool({ ...shared, pipeline: true, max: maxTransactions }),
    direct: directUrl === undefined ? undefined : connection(options, directUrl, '`directUrl`'),
  }
}

function urlOf({ url = '' }: PostgresOptions): string {
  return typeof url === 'function' ? url() : url
}

const common: PoolConfig = {
  connectionTimeoutMillis: 5_000,
  // Idle connections must not keep a process alive after its inbox was stopped.
  allowExitOnIdle: true,
  ...keepAlive,
}

function connection({ password, ssl }: PostgresOptions, url: string, what?: string): PoolConfig {
  const { urls, readWrite } = parseAddress(url, what)
  return {
    ...common,
    connectionString: urls[0],
    ...(password !== undefined && { password }),
    ...(ssl !== undefined && { ssl }),
    idleTimeoutMillis: 30_000,
    Client: urls.length > 1 || readWrite ? choosingClient(urls, readWrite) : PromptClient,
    application_name: 'hookonce',
  }
}

/** node-postgres makes password and ssl non-enumerable. */
function configOf({ options }: Pool): PoolConfig {
  const { password, ssl } = options as PoolConfig
  return {
    Client: PromptClient,
    ...options,
    ...common,
    ...(password !== undefined && { password }),
    ...(ssl !== undefined && { ssl }),
  }
}
