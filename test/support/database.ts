/** A database of one's own on the shared server. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

export async function freshDatabase(serverUrl: string = inject('postgresUrl')): Promise<TestDatabase> {
  const name = `hookonce_test_${randomBytes(6).toString('hex')}`
  await once(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => once(serverUrl, `drop database if exists ${name} with (force)`) }
}

/** One statement on a connection of its own. */
export async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
