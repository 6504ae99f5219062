import { createInbox, HookonceError, type Inbox, type Store } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { freshFolder } from '../support/cli.js'
import { type LogLine, loggedInbox } from '../support/inboxes.js'
import { post, shop } from '../support/processing.js'

const inboxes: Inbox[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const inbox of inboxes.splice(0)) await inbox.stop({ deadline: 100 })
})

function inboxWith(options: object = {}): { inbox: Inbox; lines: LogLine[] } {
  const made = loggedInbox({ store: 'sqlite::memory:', sources: { shop: shop() }, ...options })
  inboxes.push(made.inbox)
  return made
}

const warnings = (lines: readonly LogLine[]) => lines.filter(({ msg }) => msg.startsWith('events wait'))

/** The time after which an inbox looks whether events wait, without waiting for it. */
async function passSeconds(inbox: Inbox): Promise<void> {
  await vi.advanceTimersByTimeAsync(11_000)
  vi.useRealTimers()
  // The look at the log was asked for before this one, and a store in memory answers in order.
  await inbox.events.stats()
  await new Promise(setImmediate)
}

test('an inbox whose start was forgotten warns once that events wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { inbox, lines } = inboxWith()
  inbox.on('shop', '*', () => {})
  await post(inbox, { id: 'a' })
  await post(inbox, { id: 'b' })
  await passSeconds(inbox)
  expect(warnings(lines)).toMatchObject([{ level: 'warn', source: 'shop', pending: 2 }])
  expect(warnings(lines)[0]!.msg).toContain('call await inbox.start()')
})

test('an inbox that was started without any handler warns too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { inbox, lines } = inboxWith()
  await inbox.start()
  await post(inbox, { id: 'a' })
  await passSeconds(inbox)
  expect(warnings(lines).map(({ msg }) => msg)).toEqual([expect.stringContaining('no handler is registered')])
})

test.each([
  ['was started', {}, (inbox: Inbox) => inbox.start()],
  ['is drained by its caller', {}, (inbox: Inbox) => inbox.drain()],
  ['only receives', { processing: false }, async () => {}],
])('an inbox that %s does not warn', async (_name, options, run) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { inbox, lines } = inboxWith(options)
  inbox.on('shop', '*', () => {})
  await run(inbox)
  await post(inbox, { id: 'a' })
  await passSeconds(inbox)
  expect(warnings(lines)).toEqual([])
})

test('deliveries that leave the spool of an inbox without a worker are named in a warning', async () => {
  const folder = freshFolder()
  const spool = { path: `${folder.path}/spool.db` }
  const store = sqlite(`${folder.path}/events.db`)
  let away = true
  const record: Store['record'] = async (deliveries) => {
    if (away) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
    return store.record(deliveries)
  }
  const { inbox, lines } = inboxWith({ store: { ...store, record }, spool })
  inbox.on('shop', '*', () => {})
  expect((await post(inbox, { id: 'a' })).status).toBe('spooled')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  away = false
  const until = performance.now() + 60_000
  while (warnings(lines).length === 0 && performance.now() < until) {
    await vi.advanceTimersByTimeAsync(1_000)
    await new Promise(setImmediate)
  }
  vi.useRealTimers()
  expect(warnings(lines)).toMatchObject([{ level: 'warn', source: 'shop', pending: 1 }])
  await inbox.stop()
  await folder.remove()
})

test('doctor names a log whose events nobody handles', async () => {
  const folder = freshFolder()
  const path = `${folder.path}/events.db`
  const clock = { now: () => Date.now() - 60_000 }
  const inbox = createInbox({ store: sqlite(path, { clock }), sources: { shop: shop() }, log: 'silent' })
  await post(inbox, { id: 'a' })
  await inbox.stop()
  const doctor = await folder.run(['doctor', '--store', `sqlite:${path}`])
  await folder.remove()
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(
    /PROBLEM +backlog +1 event is not finished, the oldest for [\d.]+ minutes?, and none is being handled/,
  )
  expect(doctor.stdout).toContain('Call await inbox.start()')
})

test('a second inbox on the same log of this process is named, unless the first has stopped', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const folder = freshFolder()
  const store = `sqlite:${folder.path}/events.db`
  const said = async (options: object = {}) => {
    const { inbox, lines } = inboxWith({ store, ...options })
    await inbox.start()
    await vi.advanceTimersByTimeAsync(1_100)
    await inbox.events.stats()
    return {
      inbox,
      second: lines.filter(({ msg }) => msg.startsWith('another inbox in this process')).length,
    }
  }
  const first = await said()
  expect(first.second).toBe(0)
  expect((await said()).second).toBe(1)
  expect((await said({ processing: false })).second).toBe(0)
  expect((await said({ store: 'sqlite::memory:' })).second).toBe(0)
  vi.useRealTimers()
  for (const inbox of inboxes.splice(0)) await inbox.stop({ deadline: 100 })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  expect((await said()).second).toBe(0)
  vi.useRealTimers()
  for (const inbox of inboxes.splice(0)) await inbox.stop({ deadline: 100 })
  await folder.remove()
})
