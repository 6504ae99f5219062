/** What is found in the counts of a log, and that one process of the log tells it. */
import { writeFile } from 'node:fs/promises'
import { createInbox, type Inbox, permanent, type Source } from 'hookonce'
import { stripe } from 'hookonce/providers'
import { admin } from 'hookonce/server'
import { metricsText, type Notice, type RunningAlerts, startAlerts } from 'hookonce/telemetry'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SourceHealth, WatchedSource } from '#dist/silence/alarm.js'
import { healthReader } from '#dist/silence/health.js'
import { sourceWatch } from '#dist/silence/watch.js'
import { freshFolder } from '../support/cli.js'
import { loggedInbox, secretOf } from '../support/inboxes.js'
import { postgresHarness } from '../support/postgres-harness.js'
import { post, shop } from '../support/processing.js'
import { type OwnHarness, sqliteHarness } from '../support/sqlite-harness.js'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const process = { id: 'p1', version: '1', node: '20', host: 'here', pid: 7, worker: null }
const watched: WatchedSource = stripe({ secret: secretOf('shop') })

describe.each([
  ['SQLite', sqliteHarness],
  ['PostgreSQL', postgresHarness],
] as const)('on %s', (_, make) => {
  let harness: OwnHarness<never>
  let store: CompleteStore<never>

  beforeEach(async () => {
    harness = (await make()) as unknown as OwnHarness<never>
    store = await harness.open()
    // In the middle of an hour: a test takes less than half of it.
    const { now } = await store.history.read({ from: 0, to: MINUTE_MS, stepMs: MINUTE_MS })
    await harness.advance((1.5 * HOUR_MS - (now % HOUR_MS)) % HOUR_MS)
  })
  afterEach(() => harness.end())

  const count = (counts: Record<string, number>, source = 'shop') =>
    store.history.add({
      process,
      counts: Object.entries(counts).map(([name, value]) => ({ source, name, value })),
    })
  const alive = () => count({ alive: 1 }, '(log)')

  /** Processes run, and nothing arrives. */
  async function silent(hours: number): Promise<void> {
    for (let hour = 0; hour < hours; hour++) {
      await harness.advance(HOUR_MS)
      await alive()
    }
  }

  /** 300 deliveries every night. Ends right after the last of them. */
  async function nights(nights = 21): Promise<void> {
    for (let night = 0; night < nights; night++) {
      if (night > 0) await harness.advance(24 * HOUR_MS)
      await count({ recorded: 299, duplicates: 1, received: 300 })
    }
  }

  async function health(source: WatchedSource = watched): Promise<SourceHealth> {
    return (await healthReader(store, new Map([['shop', source]]))!.read())[0]!
  }

  test('a night without its batch is reported in the morning, with the likely cause', async () => {
    await nights()
    const { alarms, reportsAt } = await health()
    expect(alarms).toEqual([])
    const { now } = await store.history.read({ from: 0, to: MINUTE_MS, stepMs: MINUTE_MS })
    expect(reportsAt! - now).toBeGreaterThan(24 * HOUR_MS)
    expect(reportsAt! - now).toBeLessThan(27 * HOUR_MS)
    await silent(24)
    expect((await health()).alarms).toEqual([])
    await silent(3)
    expect((await health()).alarms).toEqual([
      expect.objectContaining({
        kind: 'silent',
        source: 'shop',
        text: expect.stringMatching(
          /^shop: last accepted \d{4}-\d\d-\d\d \d\d:\d\d UTC; no connection at all since then: the endpoint is probably disabled at the sender/,
        ),
        todo: expect.stringMatching(/Stripe disables an endpoint .*Workbench/),
      }),
    ])
    await count({ recorded: 1 })
    expect((await health()).alarms).toEqual([])
  })

  test('hours in which no process was running are not silence', async () => {
    await nights()
    await harness.advance(60 * HOUR_MS)
    expect((await health()).alarms).toEqual([])
  })

  test('a source that may be silent is not reported, but its rejections are', async () => {
    await nights()
    await silent(30)
    const source = stripe({ secret: secretOf('shop'), mayBeSilent: true })
    expect(await health(source)).toEqual({ source: 'shop', reportsAt: null, alarms: [] })
    await count({ 'rejected bad_signature': 30 })
    expect((await health(source)).alarms).toMatchObject([{ kind: 'rejected' }])
  })

  test('rejections in place of deliveries are a changed secret', async () => {
    await nights()
    await harness.advance(24 * HOUR_MS)
    await count({ received: 214, 'rejected bad_signature': 214 })
    const [alarm, ...others] = (await health()).alarms
    expect(others).toEqual([])
    expect(alarm).toMatchObject({ kind: 'rejected' })
    expect(alarm!.text).toContain('since then 214 rejected as bad_signature: the secret has probably changed')
  })

  test('strangers who post to a source that is asleep are no alarm', async () => {
    await nights()
    await silent(12)
    await count({ 'rejected missing_signature': 100 })
    expect((await health()).alarms).toEqual([])
  })

  test('rejections beside accepted deliveries are an alarm when there are many more than usual', async () => {
    await nights()
    await count({ 'rejected bad_signature': 60 })
    expect((await health()).alarms, 'a small share').toEqual([])
    await count({ 'rejected bad_signature': 40 })
    const { alarms } = await health()
    expect(alarms).toMatchObject([{ kind: 'rejected', id: expect.stringContaining('beside') }])
    expect(alarms[0]!.text).toContain('100 of 400 deliveries in the last hour')
  })

  test('a source whose first deliveries are all rejected is told before there is a rhythm', async () => {
    await count({ 'rejected bad_signature': 19 })
    expect((await health()).alarms).toEqual([])
    await count({ 'rejected bad_signature': 1 })
    const { alarms } = await health()
    expect(alarms[0]!.text).toMatch(/no delivery was ever accepted; since then 20 rejected/)
  })

  test('a type that came every day and stops is reported on the fourth day', async () => {
    const inbox = createInbox({ store, sources: { shop: shop() }, log: 'silent', ownsStore: false })
    const day = async (id: number, ...types: string[]) => {
      await harness.advance(24 * HOUR_MS)
      for (const type of types) await post(inbox, { id: `${type} ${id}`, type })
      await count({ recorded: types.length })
    }
    for (let id = 0; id < 21; id++) await day(id, 'order.paid', 'order.sent')
    await day(21, 'order.sent', 'order.seen')
    await day(22, 'order.sent', 'order.seen')
    await day(23, 'order.sent', 'order.seen')
    expect((await health()).alarms).toEqual([])
    await day(24, 'order.sent', 'order.seen')
    expect((await health()).alarms).toMatchObject([
      {
        kind: 'stopped',
        text: expect.stringContaining('order.paid came every day, and has not come for 3 days'),
      },
    ])
    await inbox.stop()
  })

  test('an alarm is in the list of the overview, on the page of its source and in the metrics', async () => {
    await nights()
    await silent(27)
    const { inbox } = loggedInbox({ store, ownsStore: false, sources: { shop: watched as Source } })
    await inbox.start()
    const handler = admin(inbox, { authorize: () => ({ actor: 'test', role: 'viewer' }) })
    const get = async (path: string) =>
      (await handler.fetch(new Request(`http://localhost${path}`))).json() as Promise<Record<string, unknown>>
    const text = expect.stringContaining('no connection at all since then')
    expect((await get('/api/attention')).items).toContainEqual(
      expect.objectContaining({ kind: 'alarm', severity: 'critical', title: 'shop is silent', text }),
    )
    expect(await get('/api/sources/shop')).toMatchObject({
      alarms: [{ kind: 'silent', text }],
      reportsSilenceAt: expect.stringMatching(/^\d{4}-/),
      disables: { when: expect.stringContaining('disables an endpoint') },
    })
    expect(await metricsText(inbox)).toContain('hookonce_source_alarm{source="shop",kind="silent"} 1')
    await handler.close()
    await inbox.stop({ deadline: 100 })
  })

  test('one process of a log logs an alarm, and its end', async () => {
    await nights()
    await silent(27)
    const lines: string[] = []
    const line = (fields: object, text: string) => void lines.push(`${JSON.stringify(fields)} ${text}`)
    const log = { debug: line, info: line, warn: line, error: line }
    const sources = new Map([['shop', watched]])
    const watches = [1, 2].map(() => sourceWatch({ store: { opened: store, refuses: false }, sources, log }))
    const look = () => Promise.all(watches.map((watch) => watch.look()))
    await look()
    await look()
    expect(lines).toEqual([expect.stringMatching(/"source":"shop","alarm":"silent".*last accepted/)])
    await count({ recorded: 1 })
    await harness.advance(2 * MINUTE_MS)
    await look()
    await look()
    expect(lines.slice(1)).toEqual([expect.stringMatching(/"alarm":"silent".* alarm is over/)])
  })

  test('a silence that is forgotten with its rhythm is not told to be over', async () => {
    await nights()
    await silent(27)
    const lines: string[] = []
    const line = (_: object, text: string) => void lines.push(text)
    const log = { debug: line, info: line, warn: line, error: line }
    const watch = sourceWatch({
      store: { opened: store, refuses: false },
      sources: new Map([['shop', watched]]),
      log,
    })
    await watch.look()
    await harness.advance(22 * 24 * HOUR_MS)
    expect((await health()).alarms).toEqual([])
    await watch.look()
    expect(lines).toEqual([expect.stringContaining('last accepted')])
  })

  test('one process of a log sends the notices of what all of them find', async () => {
    await nights()
    await silent(27)
    const notices: Notice[] = []
    const inboxes: Inbox[] = []
    const alerts: RunningAlerts[] = []
    for (let i = 0; i < 2; i++) {
      const { inbox } = loggedInbox({ store: await harness.open(), sources: { shop: shop() } })
      inbox.on('shop', '*', () => {
        throw permanent('no')
      })
      await inbox.start()
      inboxes.push(inbox)
      const notify = (notice: Notice) => void notices.push(notice)
      alerts.push(startAlerts(inbox, { deadLetters: { above: 0 }, every: '1h', notify }))
    }
    const told = async () => {
      await Promise.all(alerts.map((one) => one.check()))
      return notices.length
    }
    await expect.poll(told, { timeout: 60_000 }).toBe(1)
    expect(notices[0]).toMatchObject({ type: 'alert.firing', alert: 'silent', sources: { shop: 1 } })
    await post(inboxes[0]!, { id: 'e1' })
    await inboxes[0]!.drain()
    await expect.poll(told, { timeout: 60_000 }).toBeGreaterThan(1)
    // Every process has seen it now.
    for (const one of alerts) {
      const isFiring = async () => {
        await one.check()
        return one.states()[0]!.firing
      }
      await expect.poll(isFiring, { timeout: 60_000 }).toBe(true)
    }
    expect(notices.filter(({ alert }) => alert === 'deadLetters')).toHaveLength(1)
    for (const one of alerts) one.stop()
    for (const inbox of inboxes) await inbox.stop({ deadline: 100 })
  })
})

test('hookonce doctor names a source whose deliveries are all rejected', async () => {
  const folder = freshFolder()
  const { inbox } = loggedInbox({
    store: `sqlite:${folder.path}/events.db`,
    sources: { shop: watched as Source },
  })
  await inbox.start()
  for (let i = 0; i < 20; i++)
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: { 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` },
      body: Buffer.from('{}'),
    })
  await inbox.stop()
  const config = `import { stripe } from 'hookonce/providers'
    export default { store: 'sqlite:events.db', sources: { shop: stripe({ secret: process.env.SHOP ?? '' }) } }`
  await writeFile(`${folder.path}/hookonce.config.mjs`, config)
  const { code, stdout } = await folder.call(['doctor', '--json'], { SHOP: secretOf('shop') })
  await folder.remove()
  expect(code).toBe(1)
  expect(JSON.parse(stdout).findings).toContainEqual({
    name: 'deliveries',
    value:
      'shop: no delivery was ever accepted; since then 20 rejected as bad_signature: the secret has probably changed.',
    ok: false,
    fix: expect.stringContaining('Compare the secret of the source'),
  })
})
