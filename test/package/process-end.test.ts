import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'

const program = (store: string, after: string) => `
import { createInbox } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'

const url = process.argv[1]
const pool = new pg.Pool({ connectionString: url, max: 2 })
const inbox = createInbox({ store: ${store}, sources: {} })
await inbox.start()
await inbox.events.list()
await inbox.stop()
${after}
`

// Idle connections are closed after 30 seconds; a process that waits for that is not ended by then.
const LIMIT_MS = 25_000

test.each([
  ['postgres({ url })', "postgres({ url, schema: 'process_end' })", ''],
  [
    'postgres({ pool }), whose pool still works and is ended by its owner',
    "postgres({ pool, schema: 'process_end' })",
    "console.log((await pool.query('select 1 as one')).rows[0].one); await pool.end()",
  ],
])('a process ends by itself after inbox.stop() with %s', async (_name, store, after) => {
  const startedAt = performance.now()
  const ended = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program(store, after), inject('postgresUrl')],
    { timeout: LIMIT_MS },
  )
  expect(ended.stdout).toBe(after === '' ? '' : '1\n')
  expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS)
})
