/** Alerts are told once when a number passes its threshold and once when it is back, by URL or function. */
import { type Inbox, permanent, retryAfter } from 'hookonce'
import { github } from 'hookonce/providers'
import {
  type Alerts,
  metricsText,
  type Notice,
  type RunningAlerts,
  startAlerts,
  withAlerts,
} from 'hookonce/telemetry'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { startEndpoint, status } from '../support/endpoint.js'
import { readExposition } from '../support/exposition.js'
import { secretOf } from '../support/inboxes.js'
import { ids, onLog, post, shop, until } from '../support/processing.js'

const running: RunningAlerts[] = []
afterEach(() => {
  for (const one of running.splice(0)) one.stop()
})

function start(inbox: Inbox, alerts: Alerts, now?: () => number): RunningAlerts {
  const started = startAlerts(inbox, { every: '1h', ...alerts }, now ? { now } : {})
  running.push(started)
  return started
}

/** The answer of the store is kept for a moment, so one look may be too early. */
async function looked(alerts: RunningAlerts, condition: () => boolean): Promise<boolean> {
  await alerts.check()
  return condition()
}

onLog('SQLite', (bench) => {
  test('dead letters above the threshold are told once, and when they are gone, once', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', () => {
      throw permanent('no')
    })
    const notices: Notice[] = []
    const alerts = start(inbox, { deadLetters: { above: 2 }, notify: (notice) => void notices.push(notice) })
    for (const id of ids(2)) await post(inbox, { id })
    await inbox.drain()
    await alerts.check()
    expect(notices).toEqual([])
    await post(inbox, { id: 'third' })
    await inbox.drain()
    await until(() => looked(alerts, () => notices.length > 0), 'it fires')
    await alerts.check()
    expect(notices).toEqual([
      expect.objectContaining({
        type: 'alert.firing',
        alert: 'deadLetters',
        value: 3,
        threshold: 2,
        sources: { shop: 3 },
        text: 'hookonce: dead letters: 3 events, above 2',
      }),
    ])
    expect(alerts.states()).toEqual([
      expect.objectContaining({ alert: 'deadLetters', firing: true, value: 3 }),
    ])
    await inbox.ignore({ source: 'shop', id: 'third' }, { actor: 'test', note: 'done' })
    await until(() => looked(alerts, () => notices.length > 1), 'it is over')
    expect(notices[1]).toMatchObject({ type: 'alert.resolved', value: 2 })
    expect(alerts.states()[0]!.firing).toBe(false)
  })

  test('events that no process handles are told while the review list grows', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', 'order.paid', () => {})
    const notices: Notice[] = []
    const alerts = start(inbox, { review: { perMinute: 1 }, notify: (notice) => void notices.push(notice) })
    await post(inbox, { id: 'e1', type: 'order.refunded' })
    await inbox.drain()
    await alerts.check()
    expect(notices).toEqual([])
    await post(inbox, { id: 'e2', type: 'order.refunded' })
    await inbox.drain()
    await alerts.check()
    expect(notices).toMatchObject([{ type: 'alert.firing', alert: 'review', value: 2, sources: { shop: 2 } }])
  })

  test('an event that waits too long is told in seconds', async () => {
    const { inbox } = bench.inbox()
    const notices: Notice[] = []
    let aheadMs = 0
    const alerts = start(
      inbox,
      { oldestAge: { above: '5m' }, notify: (notice) => void notices.push(notice) },
      () => Date.now() + aheadMs,
    )
    await post(inbox, { id: 'e1' })
    await alerts.check()
    expect(notices).toEqual([])
    aheadMs = 301_000
    await until(() => looked(alerts, () => notices.length > 0), 'it fires')
    expect(notices[0]).toMatchObject({
      ...{ alert: 'oldestAge', threshold: 300, unit: 'seconds', sources: { shop: expect.any(Number) } },
      text: expect.stringContaining('the age of the oldest unfinished event: '),
    })
    expect(notices[0]!.value).toBeGreaterThan(300)
  })

  test('an event has its age since it was received, also while it waits for a retry', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', () => {
      throw retryAfter('1h', 'later')
    })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    await bench.log.sql(`update log.events set received_at = received_at - ${14 * 60_000}`)
    const notices: Notice[] = []
    const alerts = start(inbox, { oldestAge: { above: '5m' }, notify: (notice) => void notices.push(notice) })
    await alerts.check()
    expect(notices).toMatchObject([{ alert: 'oldestAge', sources: { shop: expect.any(Number) } }])
    expect(notices[0]!.value).toBeGreaterThanOrEqual(14 * 60)
    const age = readExposition(await metricsText(inbox)).value('hookonce_oldest_unfinished_seconds')
    expect(age).toBeGreaterThanOrEqual(14 * 60)
  })
})

onLog('SQLite', (bench) => {
  async function rejectedInbox() {
    const { inbox, lines } = bench.inbox({
      sources: { hub: github({ secret: secretOf('hub') }), shop: shop() },
    })
    const reject = async (times: number) => {
      for (let i = 0; i < times; i++) {
        const headers = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
        await inbox.receive('hub', {
          method: 'POST',
          url: 'http://localhost/',
          headers,
          body: Buffer.from('{}'),
        })
      }
    }
    return { inbox, lines, reject }
  }

  test('signature failures count by the minute; what is over the cooldown may fire again', async () => {
    const { inbox, reject } = await rejectedInbox()
    const told: string[] = []
    let now = 1_000_000
    const alerts = start(
      inbox,
      {
        signatureFailures: { perMinute: 5 },
        cooldown: '10m',
        notify: ({ type, value, sources }) => void told.push(`${type} ${value} ${JSON.stringify(sources)}`),
      },
      () => now,
    )
    await reject(5)
    now += 15_000
    await alerts.check()
    expect(told).toEqual([])
    await reject(3)
    now += 15_000
    await alerts.check()
    expect(told).toEqual(['alert.firing 8 {"hub":8}'])
    now += 61_000
    await alerts.check()
    expect(told.slice(1)).toEqual(['alert.resolved 0 {}'])
    await reject(9)
    now += 15_000
    await alerts.check()
    expect(told, 'within the cooldown it is quiet').toHaveLength(2)
    now += 600_000
    await alerts.check()
    await reject(7)
    now += 15_000
    await alerts.check()
    expect(told.slice(2)).toEqual(['alert.firing 7 {"hub":7}'])
  })

  test('conflicts are told, too', async () => {
    const { inbox } = await rejectedInbox()
    const notices: Notice[] = []
    const alerts = start(inbox, {
      conflicts: { perMinute: 0 },
      notify: (notice) => void notices.push(notice),
    })
    await post(inbox, { id: 'e1', n: 1 })
    await post(inbox, { id: 'e1', n: 2 })
    await alerts.check()
    expect(notices).toMatchObject([{ alert: 'conflicts', value: 1, sources: { shop: 1 } }])
  })

  test('a URL gets it as JSON, signed; until it takes it, it is told again', async () => {
    const { inbox, lines, reject } = await rejectedInbox()
    const endpoint = await startEndpoint()
    endpoint.answer = status(500)
    const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`
    const alerts = start(inbox, {
      signatureFailures: { perMinute: 1 },
      notify: { url: endpoint.url, secret, allowPrivate: ['127.0.0.1'] },
    })
    await reject(2)
    await alerts.check()
    expect(alerts.states()[0]!.firing).toBe(false)
    const failed = lines.filter((line) => line.alert === 'signatureFailures')
    expect(failed).toEqual([
      expect.objectContaining({ level: 'error', problem: expect.stringContaining('500') }),
    ])
    expect(JSON.stringify(failed)).not.toMatch(/hidden|whsec/)
    endpoint.answer = status(202)
    await alerts.check()
    await alerts.check()
    await endpoint.close()
    expect(endpoint.arrivals).toHaveLength(2)
    const { body, headers } = endpoint.arrivals[1]!
    const notice = new Webhook(secret).verify(body.toString(), headers as Record<string, string>)
    expect(notice).toMatchObject({ type: 'alert.firing', alert: 'signatureFailures', value: 2, threshold: 1 })
  })

  test('a function that fails is logged without its words, and the notice is sent again', async () => {
    const { inbox, lines, reject } = await rejectedInbox()
    const told: Notice[] = []
    const alerts = start(inbox, {
      signatureFailures: { perMinute: 1 },
      notify(notice) {
        told.push(notice)
        if (told.length === 1) throw Object.assign(new Error('the key sk_live_1 is wrong'), { code: 'EAUTH' })
      },
    })
    await reject(2)
    await alerts.check()
    expect(lines.at(-1)).toMatchObject({ level: 'error', problem: 'it failed (EAUTH)' })
    expect(JSON.stringify(lines)).not.toContain('sk_live_1')
    await alerts.check()
    expect(told.map(({ type }) => type)).toEqual(['alert.firing', 'alert.firing'])
  })

  test('looks by itself, and stops', async () => {
    const { inbox, reject } = await rejectedInbox()
    const notices: Notice[] = []
    const alerts = start(inbox, {
      signatureFailures: { perMinute: 1 },
      every: 10,
      notify: (notice) => void notices.push(notice),
    })
    await reject(2)
    await until(() => notices.length === 1, 'it fired by itself')
    alerts.stop()
  })

  test('withAlerts watches from start to stop', async () => {
    const { inbox, reject } = await rejectedInbox()
    const notices: Notice[] = []
    const notify = (notice: Notice) => void notices.push(notice)
    expect(withAlerts(inbox, { signatureFailures: { perMinute: 1 }, every: 10, notify })).toBe(inbox)
    await inbox.start()
    await reject(2)
    await until(() => notices.length === 1, 'it fired')
    await inbox.stop()
  })

  test('what cannot work stops the start', () => {
    const { inbox } = bench.inbox()
    const deadLetters = { above: 1 }
    const notify = () => {}
    const make = (alerts: object) => () => start(inbox, alerts as Alerts)
    expect(make({ notify })).not.toThrow()
    expect(make({ deadLetters })).toThrow('alerts.notify')
    expect(make({ deadLetters, notify, deadLetter: {} })).toThrow('alerts.deadLetter is not an option')
    expect(make({ deadLetters: { above: 'x' }, notify })).toThrow('alerts.deadLetters.above')
    expect(make({ oldestAge: { above: 'soon' }, notify })).toThrow('must be a duration')
    expect(make({ deadLetters, notify: { url: 'http://127.0.0.1/' } })).toThrow('not a public address')
    expect(make({ deadLetters, notify: { command: ['page'] } })).toThrow(
      'alerts.notify.command is not an option',
    )
  })
})
