import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'

/** Prints whether the store is closed after `stop`, and how many of its connections or files are left. */
const program = (store: string, left: string) => `
import { existsSync } from 'node:fs'
import { createInbox } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import pg from 'pg'

const url = process.argv[1] + '?application_name=process_end'
const pool = new pg.Pool({ connectionString: process.argv[1], max: 2 })
const store = ${store}
const inbox = createInbox({ store, sources: {} })
await inbox.start()
await inbox.events.list()
await inbox.stop()
console.log(await store.ping().then(() => 'open', (error) => error.code), ${left})
await pool.end()
`

// PostgreSQL ends a backend some time after the client has closed its connection: wait for the last one.
const connections = `await (async () => {
  const count = "select count(*)::int as n from pg_stat_activity where application_name = 'process_end'"
  for (;;) {
    const [{ n }] = (await pool.query(count)).rows
    if (n === 0 || performance.now() > 60_000) return n
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})()`

// Idle connections are closed after 30 seconds; a process that waits for that is not ended by then.
const LIMIT_MS = 25_000

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-process-end-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  ['postgres({ url })', "postgres({ url, schema: 'process_end' })", connections, '0'],
  [
    'postgres({ pool }), whose pool still works and is ended by its owner',
    "postgres({ pool, schema: 'process_end' })",
    "(await pool.query('select 1 as one')).rows[0].one",
    '1',
  ],
  [
    'sqlite(path)',
    "sqlite(process.argv[2] + '/events.db')",
    "existsSync(process.argv[2] + '/events.db-wal')",
    'false',
  ],
])('inbox.stop() closes a store made by %s, and the process ends', async (_name, store, left, expected) => {
  const args = ['--input-type=module', '--eval', program(store, left), inject('postgresUrl'), folder]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let printed = ''
  let printedAt = Number.NEGATIVE_INFINITY
  child.stdout.on('data', (text) => {
    printed += text
    printedAt = performance.now()
  })
  expect(await closed).toEqual([0, null])
  expect(printed).toBe(`STORE_CLOSED ${expected}\n`)
  // Counted from the last line: a busy machine may need long to start a program.
  expect(performance.now() - printedAt).toBeLessThan(LIMIT_MS)
})

test('ownsStore: false leaves the store open for its other users', async () => {
  const ended = await promisify(execFile)(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createInbox } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
const store = sqlite(':memory:')
const inbox = createInbox({ store, ownsStore: false, sources: {} })
await inbox.start()
await inbox.stop()
console.log((await store.stats()).length)
await store.close()`,
    ],
    { timeout: 100_000 },
  )
  expect(ended.stdout).toBe('0\n')
})
