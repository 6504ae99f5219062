/**
 * One PostgreSQL server for the whole run, with a template database that holds a migrated log: a test copies it in
 * some milliseconds instead of running every migration. Temporary files are kept in memory where that is possible.
 */
import { randomBytes } from 'node:crypto'
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
  const template = await createTemplate(url)
  cleanups.push(() => once(url, `drop database ${template} with (force)`))
  project.provide('postgresUrl', url)
  // Copying files ends with a checkpoint, which only a disk makes slow. Version 14 knows no other way.
  const strategy = (await majorOf(url)) < 15 ? '' : `strategy ${folder ? 'file_copy' : 'wal_log'}`
  project.provide('postgresTemplate', `template ${template} ${strategy}`)
  return async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

async function createTemplate(serverUrl: string): Promise<string> {
  const name = `hookonce_template_${randomBytes(6).toString('hex')}`
  await once(serverUrl, `create database ${name}`)
  const url = databaseUrl(serverUrl, name)
  await once(url, 'create schema log_user; create table log_user.effects (value text not null)')
  const store = postgres({ url, schema: 'log' })
  await store.migrate()
  await store.close()
  return name
}

async function majorOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('show server_version_num')
  await client.end()
  return Math.floor(rows[0].server_version_num / 10_000)
}
