/** Ids that nobody signed: genuine senders repeat themselves, and a forged id must not block the real event. */

import { createInbox, type Delivery, type Inbox, type InboxOptions, lru } from 'hookonce'
import { github, gitlab, shopify, woocommerce } from 'hookonce/providers'
import { metricsText, startAlerts } from 'hookonce/telemetry'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox, onBothStores, secretOf } from '../support/inboxes.js'

const sources = () => ({
  github: github({ secret: secretOf('github') }),
  gitlab: gitlab({ secret: secretOf('gitlab') }),
  shopify: shopify({ secret: secretOf('shopify') }),
  woocommerce: woocommerce({ secret: secretOf('woocommerce') }),
})
type Name = keyof ReturnType<typeof sources>

async function signed(inbox: Inbox, name: Name, id: string, body: object, type?: string): Promise<Delivery> {
  const source = wholeInbox(inbox).sources.get(name)!
  const sample = source.sample({ now: Date.now(), id, ...(type === undefined ? {} : { type }) })
  return source.sign({ ...sample, body: JSON.stringify(body) })
}

onBothStores((stores) => {
  let n = 0
  const open = (more: Partial<InboxOptions> = {}) => {
    const { inbox, lines } = loggedInbox({ store: stores.open(), sources: sources(), ...more })
    const handled: string[] = []
    const bodies = new Map<string, string>()
    for (const name of wholeInbox(inbox).sources.keys())
      inbox.on(name, '*', (event) => {
        handled.push(event.id)
        bodies.set(event.id, Buffer.from(event.raw).toString())
      })
    return { inbox, lines, handled, bodies, run: ++n }
  }

  const genuine: [string, Name, (run: number) => { body: object; types: [string?, string?] }][] = [
    [
      'a GitHub workflow dispatched twice',
      'github',
      (run) => ({ body: { inputs: {}, ref: 'refs/heads/main', workflow: `w${run}` }, types: [] as never }),
    ],
    [
      'WooCommerce order.created and order.updated',
      'woocommerce',
      (run) => ({ body: { id: run, status: 'processing' }, types: ['order.created', 'order.updated'] }),
    ],
    ['a second Shopify shop/redact', 'shopify', (run) => ({ body: { shop_id: run }, types: [] as never })],
    [
      'a GitLab branch pushed again',
      'gitlab',
      (run) => ({ body: { object_kind: 'push', ref: 'refs/heads/x', after: `${run}` }, types: [] as never }),
    ],
  ]

  test.each(genuine)('%s: both are handled, and the second is flagged', async (_, name, make) => {
    const { inbox, handled, run, lines } = open()
    const { body, types } = make(run)
    const ids = [`1${run}0`, `1${run}1`] as const
    const deliveries = [
      await signed(inbox, name, ids[0], body, types[0]),
      await signed(inbox, name, ids[1], body, types[1]),
    ]
    const stored: string[] = []
    for (const delivery of deliveries) {
      const receipt = await inbox.receive(name, delivery)
      expect(receipt).toMatchObject({ httpStatus: 200, status: 'accepted', duplicate: false })
      stored.push(receipt.eventId!)
    }
    expect(await inbox.receive(name, deliveries[1]!)).toMatchObject({ duplicate: true })
    await inbox.drain()
    expect(handled).toEqual(stored)
    const [first, second] = await Promise.all(
      stored.map((eventId) => inbox.events.get({ source: name, id: eventId })),
    )
    expect(first).toMatchObject({ state: 'succeeded', sameAs: null })
    expect(second).toMatchObject({ state: 'succeeded', sameAs: stored[0] })
    const flagged = await inbox.events.list({ source: name, flagged: true }, { limit: 500 })
    expect(flagged.events.map((event) => event.id)).toContain(stored[1])
    expect(flagged.events.map((event) => event.id)).not.toContain(stored[0])
    expect(wholeInbox(inbox).counters.of(name)).toMatchObject({ flagged: 1, replayed: 0, conflicts: 0 })
    expect(lines.filter((line) => line.sameAs === stored[0])).toHaveLength(1)
  })

  test('flagged events are in the metrics, an alert tells of them, and a sender that repeats itself does not fill the log', async () => {
    const { inbox, lines, run } = open()
    const told: unknown[] = []
    let now = Date.now()
    const alerts = startAlerts(
      inbox,
      { flagged: { perMinute: 5 }, notify: async (notice) => void told.push(notice) },
      { now: () => now },
    )
    for (let i = 0; i < 40; i++)
      await inbox.receive('github', await signed(inbox, 'github', `${run}-${i}`, { zen: `again ${run}` }))
    await inbox.drain()
    now += 30_000
    await alerts.check()
    alerts.stop()
    expect(told).toMatchObject([
      { type: 'alert.firing', alert: 'flagged', value: 39, sources: { github: 39 } },
    ])
    expect(await metricsText(inbox)).toContain('hookonce_events_flagged_total{source="github"} 39')
    expect(lines.filter((line) => 'sameAs' in line).length).toBeLessThan(10)
  })

  test('an event whose id was taken by captured bytes is a conflict, and an operator runs it with its own bytes', async () => {
    for (const more of [{}, { seen: lru() }] satisfies Partial<InboxOptions>[]) {
      const { inbox, handled, bodies, run } = open(more)
      const id = `x-${run}`
      const key = { source: 'github', id: id }
      const captured = await signed(inbox, 'github', `a-${run}`, { action: `captured ${run}` })
      const forged = { ...captured, headers: { ...captured.headers, 'x-github-delivery': id } }
      const real = await signed(inbox, 'github', id, { action: `real ${run}` })
      await inbox.receive('github', captured)
      expect(await inbox.receive('github', forged)).toMatchObject({ status: 'accepted', eventId: id })
      await inbox.drain()
      expect(await inbox.receive('github', real)).toMatchObject({ httpStatus: 200, eventId: id })
      expect(wholeInbox(inbox).counters.of('github')).toMatchObject({ conflicts: 1 })
      const { events } = await inbox.events.list({ hasConflict: true })
      expect(events.map(({ id }) => id)).toContain(id)
      await inbox.replay(key, { conflict: true, force: true, actor: 'test' })
      await inbox.drain()
      expect(handled.filter((one) => one === id)).toHaveLength(2)
      expect(JSON.parse(bodies.get(id)!)).toEqual({ action: `real ${run}` })
      expect(await inbox.receive('github', real)).toMatchObject({ status: 'already_processed', eventId: id })
      await inbox.stop()
    }
  })

  test('a withheld forgery does not block the real event, and inline mode handles it in the request', async () => {
    const run = ++n
    const inbox = createInbox({
      store: stores.open(),
      sources: { github: github({ secret: secretOf('github'), contentGuard: 'review', mode: 'inline' }) },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    const handled: string[] = []
    inbox.on('github', '*', (event) => void handled.push(event.id))
    const captured = await signed(inbox, 'github', `a-${run}`, { action: `captured ${run}` })
    const forged = { ...captured, headers: { ...captured.headers, 'x-github-delivery': `x-${run}` } }
    const real = await signed(inbox, 'github', `x-${run}`, { action: `real ${run}` })
    expect(await inbox.receive('github', captured)).toMatchObject({ status: 'processed' })
    await inbox.receive('github', forged)
    expect(handled).toEqual([`a-${run}`])
    const receipt = await inbox.receive('github', real)
    expect(receipt).toMatchObject({ httpStatus: 200, status: 'processed', eventId: `x-${run}` })
    expect(handled).toEqual([`a-${run}`, `x-${run}`])
    await inbox.stop()
  })
})
