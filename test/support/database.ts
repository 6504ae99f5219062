/** A database of one's own on the shared server. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  /** Begins the removal. */
  drop(): Promise<void>
  /** Resolves when the database is gone, for example because a role shall go that owns something in it. */
  dropped(): Promise<void>
}

/** An empty database. */
export function freshDatabase(serverUrl: string = inject('postgresUrl')): Promise<TestDatabase> {
  return createDatabase(serverUrl, '')
}

/** A database with a migrated log in the schema `log` and an empty `log_user.effects`: a copy of the template. */
export function migratedDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('postgresUrl'), inject('postgresTemplate'))
}

async function createDatabase(serverUrl: string, options: string): Promise<TestDatabase> {
  const name = `${inject('postgresPrefix')}${randomBytes(6).toString('hex')}`
  await administrators(serverUrl).creating.query(`create database ${name} ${options}`)
  const dropped = async () => {
    await administrators(serverUrl).dropping.query(`drop database if exists ${name} with (force)`)
  }
  return {
    url: databaseUrl(serverUrl, name),
    dropped,
    async drop() {
      // Not awaited: the server sleeps for up to 100 ms until the connections that were just closed have ended.
      dropped().catch(() => {})
    },
  }
}

interface Administrators {
  readonly creating: pg.Pool
  readonly dropping: pg.Pool
}

const known = new Map<string, Administrators>()

/** Two connections that stay open until this process ends, so that no creation waits behind a removal. */
function administrators(serverUrl: string): Administrators {
  let both = known.get(serverUrl)
  if (both === undefined) {
    both = { creating: oneConnection(serverUrl), dropping: oneConnection(serverUrl) }
    known.set(serverUrl, both)
  }
  return both
}

function oneConnection(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  pool.on('error', () => {})
  return pool
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Runs one statement on a connection of its own. */
export async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
