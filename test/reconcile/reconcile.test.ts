import type { ReconcileReport } from 'hookonce'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { onBothLogs } from '../support/processing.js'
import { apiKey, arrived, HOUR_MS, MINUTE_MS, type Sender, stripeInbox, stripeSender } from './support.js'

let sender: Sender
beforeEach(async () => {
  sender = await stripeSender()
})
afterEach(() => sender.fake.close())

const counts = ({ listed, known, missing, recovered, extra, waiting }: ReconcileReport) => ({
  listed,
  known,
  missing,
  recovered,
  extra,
  waiting,
})

onBothLogs((bench) => {
  test('records what the sender lists and the log lacks, handles it once, and says so', async () => {
    const inbox = stripeInbox(bench, sender)
    const events = Array.from({ length: 20 }, (_, i) => sender.happens(HOUR_MS - i * 1_000))
    for (const [i, event] of events.entries()) if (i % 4 !== 0) await sender.deliver(inbox, event)
    const report = await inbox.reconcile('stripe', { since: '2h' })
    expect(counts(report)).toEqual({ listed: 20, known: 15, missing: 5, recovered: 5, extra: 0, waiting: 0 })
    expect(report).toMatchObject({ state: 'complete', completeUntil: report.until, error: null, lacking: [] })
    expect(report.proves).toContain('connected accounts')
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(events.map(({ id }) => id).sort())
    const [first, second] = events
    expect(await inbox.events.get({ source: 'stripe', id: first!.id })).toMatchObject({
      origin: 'backfill',
      type: 'invoice.paid',
      reference: 'in_1',
      state: 'succeeded',
    })
    expect(await inbox.events.get({ source: 'stripe', id: second!.id })).toMatchObject({ origin: 'delivery' })
  })

  test('a delivery that comes after the backfill is a duplicate and no conflict, and nothing is handled twice', async () => {
    const inbox = stripeInbox(bench, sender)
    const event = sender.happens(HOUR_MS)
    await inbox.reconcile('stripe')
    await inbox.drain()
    await sender.deliver(inbox, event)
    await inbox.drain()
    expect(await bench.log.effects()).toEqual([event.id])
    expect(await inbox.events.get({ source: 'stripe', id: event.id })).toMatchObject({
      conflicts: 0,
      deliveries: 2,
    })
  })

  test('a delivery and a backfill at the same moment are one event', async () => {
    const inbox = stripeInbox(bench, sender)
    const events = Array.from({ length: 30 }, (_, i) => sender.happens(HOUR_MS - i * 1_000))
    const [report] = await Promise.all([
      inbox.reconcile('stripe'),
      ...events.map((event) => sender.deliver(inbox, event)),
    ])
    expect(report.known + report.missing).toBe(30)
    expect(report.recovered).toBe(report.missing)
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(events.map(({ id }) => id).sort())
  })

  test('a dry run says what is missing and records nothing', async () => {
    const inbox = stripeInbox(bench, sender)
    const event = sender.happens(HOUR_MS)
    const report = await inbox.reconcile('stripe', { dryRun: true })
    expect(counts(report)).toMatchObject({ listed: 1, missing: 1, recovered: 0 })
    expect(report.lacking).toMatchObject([
      { id: event.id, type: 'invoice.paid', occurredAt: event.occurredAt },
    ])
    expect(await inbox.events.get({ source: 'stripe', id: event.id })).toBe(null)
    expect(await inbox.reports()).toEqual([])
  })

  test('an event of the last five minutes is not missing yet', async () => {
    const inbox = stripeInbox(bench, sender)
    sender.happens(4 * MINUTE_MS)
    const old = sender.happens(6 * MINUTE_MS)
    const report = await inbox.reconcile('stripe')
    expect(counts(report)).toMatchObject({ listed: 1, missing: 1 })
    expect(await inbox.events.get({ source: 'stripe', id: old.id })).not.toBe(null)
  })

  test('an event of the log that the sender does not list is extra and stays; one that came late is not', async () => {
    const inbox = stripeInbox(bench, sender)
    const store = bench.store()
    await store.migrate()
    const late = sender.happens(30 * HOUR_MS)
    await arrived(store, late, Date.now() - 2 * HOUR_MS)
    const forged = sender.happens(3 * HOUR_MS)
    sender.fake.events.pop()
    await arrived(store, forged, Date.now() - 3 * HOUR_MS)
    const report = await inbox.reconcile('stripe', { since: '6h' })
    expect(counts(report)).toMatchObject({ listed: 0, missing: 0, extra: 1 })
    expect(report.extras).toEqual([forged.id])
    expect(await inbox.events.get({ source: 'stripe', id: forged.id })).not.toBe(null)
  })

  for (const [name, skewMs] of [
    ['ahead of', 10 * MINUTE_MS],
    ['behind', -10 * MINUTE_MS],
  ] as const)
    test(`a sender whose clock is ten minutes ${name} that of the log: nothing is missing, extra or doubled`, async () => {
      const inbox = stripeInbox(bench, sender)
      const store = bench.store()
      await store.migrate()
      const events = Array.from({ length: 60 }, (_, i) =>
        sender.happens(3 * HOUR_MS - i * 3 * MINUTE_MS - skewMs),
      )
      for (const event of events.slice(1)) await arrived(store, event, event.occurredAt - skewMs)
      const report = await inbox.reconcile('stripe', { since: new Date(events[0]!.occurredAt) })
      expect(report).toMatchObject({ missing: 1, recovered: 1, extra: 0 })
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(events.map(({ id }) => id).sort())
    })

  test('backfilled events keep the order of their reference', async () => {
    const inbox = bench.inbox({ sources: { stripe: sender.source({ order: 'reference' }) } }).inbox
    const seen: string[] = []
    inbox.on('stripe', '*', (event) => void seen.push(event.id))
    const events = Array.from({ length: 8 }, (_, i) => sender.happens(2 * HOUR_MS - i * MINUTE_MS))
    await inbox.reconcile('stripe')
    await inbox.drain()
    expect(seen).toEqual(events.map(({ id }) => id))
  })

  test('the log has the report, and the process that runs has the source for itself', async () => {
    const inbox = stripeInbox(bench, sender)
    sender.happens(HOUR_MS)
    let second: unknown
    sender.fake.before = () => {
      second ??= inbox.reconcile('stripe').catch((error) => error)
    }
    const report = await inbox.reconcile('stripe')
    expect(await second).toMatchObject({ code: 'RECONCILE_BUSY' })
    expect(await inbox.reports({ source: 'stripe' })).toEqual([report])
  })
})

onBothLogs((bench) => {
  test('what the endpoint does not subscribe to is not missing', async () => {
    const created = Math.floor((Date.now() - 2 * HOUR_MS) / 1_000)
    await sender.fake.close()
    sender = await stripeSender({ endpoints: [{ enabled_events: ['invoice.paid'], created }] })
    const inbox = stripeInbox(bench, sender)
    sender.happens(HOUR_MS)
    sender.happens(HOUR_MS, { type: 'charge.refunded' })
    sender.happens(3 * HOUR_MS)
    const report = await inbox.reconcile('stripe')
    expect(report).toMatchObject({ listed: 1, missing: 1, unsubscribed: 2 })
  })

  test('with several endpoints, an event is expected when a handler names its type or the log has had it', async () => {
    await sender.fake.close()
    sender = await stripeSender({ endpoints: [{ enabled_events: ['*'] }, { enabled_events: ['*'] }] })
    const inbox = stripeInbox(bench, sender).on('stripe', 'charge.*', () => {})
    await sender.deliver(inbox, sender.happens(HOUR_MS))
    sender.happens(HOUR_MS)
    sender.happens(HOUR_MS, { type: 'charge.refunded' })
    sender.happens(HOUR_MS, { type: 'payout.created' })
    const report = await inbox.reconcile('stripe')
    expect(report).toMatchObject({ listed: 3, known: 1, missing: 2, unsubscribed: 1 })
  })

  test('a sender that fails in the middle is an error that names it; the next run finds the rest', async () => {
    const inbox = stripeInbox(bench, sender)
    const [first] = Array.from({ length: 250 }, (_, i) => sender.happens(HOUR_MS - i * 1_000))
    let asked = 0
    sender.fake.before = ({ path }) => {
      if (path === '/v1/events' && ++asked >= 2)
        sender.fake.next.push({ status: 403, body: { error: { message: 'no' } } })
    }
    const error = await inbox.reconcile('stripe').catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'SENDER_REFUSED' })
    expect(error.message).not.toContain(apiKey)
    const [failed] = await inbox.reports()
    expect(failed!.state).toBe('failed')
    expect(failed!.completeUntil).toBeLessThanOrEqual(first!.occurredAt)
    expect(failed!.error).toContain('403')
    sender.fake.before = () => {}
    sender.fake.next.splice(0)
    expect(await inbox.reconcile('stripe')).toMatchObject({ listed: 250, missing: 250, recovered: 250 })
  })

  test('a source that cannot be compared says what to give', async () => {
    const { inbox } = bench.inbox({ sources: { stripe: sender.source({ apiKey: undefined }) } })
    await expect(inbox.reconcile('stripe')).rejects.toThrow(/give stripe\(\{ apiKey \}\): a restricted key/)
    await expect(inbox.reconcile('strip')).rejects.toMatchObject({ code: 'UNKNOWN_SOURCE' })
    expect(() => sender.source({ apiKey: 'whsec_0123456789abcdef' })).toThrow(/not the signing secret/)
    expect(() => sender.source({ baseUrl: 'http://api.example.com' })).toThrow(/baseUrl.*https/)
  })
})
