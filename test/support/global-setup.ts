/**
 * One PostgreSQL server for the whole run, with a template database that holds a migrated log: a test copies it in
 * some milliseconds instead of running every migration. Temporary files are kept in memory where that is possible.
 */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { databaseUrl, once } from './database.js'
import { memoryFolder } from './memory-folder.js'
import { startPostgres } from './postgres.js'
import { nativeDir } from './postgres-native.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    /** The options of `create database` that copy the template. */
    postgresTemplate: string
    /** Begins the names of all databases of this run. */
    postgresPrefix: string
    /** Where the package is packed by the first file that needs it. */
    packedFolder: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cleanups: (() => Promise<void>)[] = []
  const given = process.env.HOOKONCE_TEST_POSTGRES_URL
  // The binaries may have to be copied once. The place of that copy must outlive this run.
  if (!given) process.env.HOOKONCE_TEST_POSTGRES_NATIVE = await nativeDir()
  const folder = await memoryFolder()
  if (folder !== null) {
    // The processes of the test files are started later and inherit it.
    process.env.TMPDIR = folder.path
    cleanups.push(folder.remove)
  }
  let url = given
  if (url === undefined) {
    const server = await startPostgres()
    cleanups.push(server.remove)
    url = server.url
  }
  const prefix = `hookonce_test_${randomBytes(4).toString('hex')}_`
  const template = `${prefix}template`
  cleanups.push(() => dropDatabases(url, prefix))
  await createTemplate(url, template)
  const packed = join(tmpdir(), `${prefix}packed`)
  cleanups.push(() => rm(packed, { recursive: true, force: true }))
  project.provide('packedFolder', packed)
  project.provide('postgresUrl', url)
  project.provide('postgresPrefix', prefix)
  // Copying files ends with a checkpoint, which only a disk makes slow. Version 14 knows no other way.
  const strategy = (await majorOf(url)) < 15 ? '' : `strategy ${folder ? 'file_copy' : 'wal_log'}`
  project.provide('postgresTemplate', `template ${template} ${strategy}`)
  return async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

async function createTemplate(serverUrl: string, name: string): Promise<void> {
  await once(serverUrl, `create database ${name}`)
  const url = databaseUrl(serverUrl, name)
  await once(url, 'create schema log_user; create table log_user.effects (value text not null)')
  const store = postgres({ url, schema: 'log' })
  await store.migrate()
  await store.close()
}

/** Tests do not wait until their databases are removed, and a process that ends may leave one behind. */
async function dropDatabases(serverUrl: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [
    prefix,
  ])
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  await client.end()
}

async function majorOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('show server_version_num')
  await client.end()
  return Math.floor(rows[0].server_version_num / 10_000)
}
