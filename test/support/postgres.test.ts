import pg from 'pg'
import { expect, test } from 'vitest'
import { freshDatabase } from './database.js'
import { startPostgres } from './postgres.js'

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a server that was killed comes back with what was committed', async () => {
  const server = await startPostgres()
  try {
    await query(server.url, 'create table kept as select 1 as n')
    await server.kill9()
    await expect(query(server.url, 'select 1')).rejects.toThrow()
    await server.restart()
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 1 }])
    await server.stop()
    await server.restart()
    expect(await query(server.url, 'select n from kept')).toEqual([{ n: 1 }])
  } finally {
    await server.remove()
  }
})

test('the shared server flushes commits to disk', async () => {
  const database = await freshDatabase()
  const rows = await query(
    database.url,
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as sync",
  )
  expect(rows).toEqual([{ fsync: 'on', sync: 'on' }])
  await database.drop()
})
