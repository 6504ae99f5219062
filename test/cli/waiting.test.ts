/** `events list`, `events show` and `doctor` say why an event waits, and for how long. */
import { createInbox, silentLog } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'
import { post, shop } from '../support/processing.js'

const MINUTE_MS = 60_000
let folder: Folder
const run = (...args: string[]) => folder.call([...args, '--store', 'sqlite:events.db'])

/** 14 minutes ago: `first` failed and is retried in an hour, and 196 events of its reference came after it. */
beforeAll(async () => {
  folder = freshFolder()
  let agoMs = 14 * MINUTE_MS
  const clock = { now: () => Date.now() - agoMs }
  const inbox = createInbox({
    store: sqlite(`${folder.path}/events.db`, { clock }),
    sources: { shop: shop({ order: 'reference' }) },
    log: silentLog,
  })
  inbox.on(
    'shop',
    'order.paid',
    () => {
      throw new Error('the ledger is away')
    },
    { retry: { firstDelay: '4h', maxDelay: '4h' } },
  )
  await post(inbox, { id: 'first', ref: 'in_1' })
  await inbox.drain()
  for (let i = 0; i < 196; i++) await post(inbox, { id: `later${i}`, ref: 'in_1' })
  agoMs = 0
  await inbox.stop()
})
afterAll(() => folder.remove())

test('doctor counts the age of events that wait behind another one, and names that one', async () => {
  const { code, stdout } = await run('doctor')
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /PROBLEM +backlog +197 events are not finished, the oldest for 1[4-9](\.\d)? minutes/,
  )
  expect(stdout).toMatch(/backlog: 99 events: waits behind first of the same reference, which is due in \d/)
})

test('events show names the event that it waits behind, and not when it is looked at again', async () => {
  const { stdout } = await run('events', 'show', 'later7')
  expect(stdout).toMatch(/waits +waits behind first of the same reference, which is due in \d/)
  expect(stdout).not.toContain('next attempt')
  expect((await run('events', 'show', 'first')).stdout).toMatch(
    /waits +failed; the next attempt is due in \d/,
  )
})

test('events list has a column of reasons where an event waits, and none elsewhere', async () => {
  const { stdout } = await run('events', 'list', '--limit', '2')
  const [titles, ...rows] = stdout.trimEnd().split('\n')
  expect(titles).toMatch(/WAITS$/)
  for (const row of rows) expect(row).toMatch(/waits behind first of the same reference/)
  expect((await run('events', 'list', '--state', 'failed', '--dead')).stdout).not.toContain('WAITS')
})

test('a pause is the reason of all of them, with its operator and the way back', async () => {
  expect((await run('pause', 'shop')).code).toBe(0)
  expect((await run('events', 'show', 'later7')).stdout).toMatch(
    /waits +paused by cli\S* .* ago; hookonce resume shop ends it/,
  )
  const { stdout } = await run('doctor')
  expect(stdout).toMatch(/ok +pauses +shop by cli/)
  expect(stdout).toMatch(/backlog: 100 events: paused by cli/)
  const shown = JSON.parse((await run('events', 'show', 'later7', '--json')).stdout)
  expect(shown.event.waiting).toMatchObject({ kind: 'paused', source: 'shop', type: null })
})
