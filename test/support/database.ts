/** A database of one's own on the shared server. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
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
  const name = `hookonce_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `create database ${name} ${options}`)
  return {
    url: databaseUrl(serverUrl, name),
    drop: () => administer(serverUrl, `drop database if exists ${name} with (force)`),
  }
}

const administrators = new Map<string, pg.Pool>()

/** Runs one statement on a connection that stays open until this process ends. */
async function administer(serverUrl: string, sql: string): Promise<void> {
  let pool = administrators.get(serverUrl)
  if (pool === undefined) {
    // One connection: statements at once take turns.
    pool = new pg.Pool({ connectionString: serverUrl, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
    pool.on('error', () => {})
    administrators.set(serverUrl, pool)
  }
  await pool.query(sql)
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
