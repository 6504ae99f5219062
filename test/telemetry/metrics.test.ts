/** The page of metrics agrees with the log, to the last event, after a run with everything in it. */

import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type EventRecord, type Inbox, permanent, postpone, type Store } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { github } from 'hookonce/providers'
import { metrics, metricsText } from 'hookonce/telemetry'
import { afterEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { readExposition } from '../support/exposition.js'
import { secretOf } from '../support/inboxes.js'
import { ids, onLog, post, quickRetry, shop, stateOf, until } from '../support/processing.js'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function listen(inbox: Inbox): Promise<number> {
  const server = createServer(nodeHandler(inbox))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function send(
  port: number,
  source: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: `/webhooks/${source}`, method, headers },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode!))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

async function everyEvent(inbox: Inbox, source: string): Promise<EventRecord[]> {
  const events: EventRecord[] = []
  let cursor: string | null = null
  do {
    const page = await inbox.events.list({ source }, { limit: 500, cursor })
    events.push(...page.events)
    cursor = page.next
  } while (cursor !== null)
  return events
}

onLog('SQLite', (bench) => {
  test('counts what the log counts after new, duplicate, conflicting, rejected, failing and dead events', async () => {
    const hub = github({ secret: secretOf('github') })
    const { inbox } = bench.inbox({
      sources: { shop: shop(), hub, quiet: shop() },
      processing: { lease: 60_000, poll: 20, retry: { ...quickRetry, maxAttempts: 3 } },
    })
    const failedOnce = new Set<string>()
    inbox.on('shop', 'order.*', async (event, ctx) => {
      if (event.type === 'order.dead') throw permanent('never')
      if (event.type === 'order.worn') throw new Error('again')
      if (event.type === 'order.skipped') ctx.ignore('not ours')
      if (event.type === 'order.late' && !failedOnce.has(event.id)) {
        failedOnce.add(event.id)
        throw event.id === 'late1' ? postpone(1) : new Error('once')
      }
    })
    inbox.on('hub', 'unwanted', () => {})
    const port = await listen(inbox)
    await inbox.start()

    const body = (id: string, type: string, more = {}) => JSON.stringify({ id, type, ...more })
    const types = ['order.paid', 'order.dead', 'order.worn', 'order.skipped', 'other.type']
    await Promise.all(
      types.flatMap((type) => ids(20, `${type}-`).map((id) => send(port, 'shop', body(id, type)))),
    )
    await Promise.all(ids(4, 'late').map((id) => send(port, 'shop', body(id, 'order.late'))))
    await Promise.all(
      ids(10, 'order.paid-').flatMap((id) => [
        send(port, 'shop', body(id, 'order.paid')),
        send(port, 'shop', body(id, 'order.paid', { changed: true })),
      ]),
    )
    expect(await send(port, 'shop', '{"no":"id"}')).toBe(400)
    expect(await send(port, 'shop', '', {}, 'PUT')).toBe(405)
    expect(await send(port, 'nowhere%22%0A', '{}')).toBe(404)
    const signed = await hub.sign({ ...hub.sample({ now: Date.now() }), now: Date.now() })
    expect(await send(port, 'hub', signed.body, signed.headers)).toBe(200)
    expect(await send(port, 'hub', Buffer.concat([signed.body, Buffer.from(' ')]), signed.headers)).toBe(401)
    expect(await send(port, 'hub', '{}')).toBe(401)
    const settled = async () =>
      (await inbox.events.stats()).every((one) => one.pending + one.processing + one.retrying === 0)
    await until(settled, 'everything is settled')

    const page = readExposition(await metricsText(inbox))
    const events = await everyEvent(inbox, 'shop')
    const attempts = (await Promise.all(events.map((event) => inbox.events.attempts(event)))).flat()
    const of = (name: string, more: Record<string, string> = {}) =>
      page.value(`hookonce_${name}`, { source: 'shop', ...more })
    const sum = (value: (event: EventRecord) => number) => events.reduce((all, one) => all + value(one), 0)

    expect(events).toHaveLength(104)
    expect(of('events_recorded_total')).toBe(events.length)
    expect(of('events_duplicate_total')).toBe(sum((event) => event.deliveries - 1))
    expect(of('events_duplicate_total')).toBe(20)
    expect(of('events_conflict_total')).toBe(sum((event) => event.conflicts))
    expect(of('events_conflict_total')).toBe(10)
    expect(of('received_total')).toBe(124 + 2)
    expect(of('ack_seconds_count')).toBe(124)
    for (const outcome of ['succeeded', 'ignored', 'failed'] as const) {
      const inLog = attempts.filter((one) => one.outcome === outcome).length
      expect(inLog).toBeGreaterThan(0)
      expect(of('attempts_total', { outcome })).toBe(inLog)
    }
    expect(of('attempts_total', { outcome: 'postponed' })).toBe(1)
    expect(of('attempts_total', { outcome: 'lost' })).toBe(0)
    expect(of('leases_lost_total')).toBe(0)
    const dead = events.filter((one) => one.state === 'failed' && one.nextAttemptAt === null).length
    expect(dead).toBe(40)
    expect(of('dead_letters_total')).toBe(dead)
    expect(of('events', { state: 'dead' })).toBe(dead)
    expect(of('events', { state: 'succeeded' })).toBe(
      events.filter((one) => one.state === 'succeeded').length,
    )
    expect(of('backlog')).toBe(0)
    expect(page.value('hookonce_oldest_unfinished_seconds')).toBe(0)
    expect(of('handler_seconds_count')).toBe(attempts.length + 1)
    expect(of('rejected_total', { reason: 'no_event_id' })).toBe(1)
    expect(of('rejected_total', { reason: 'method' })).toBe(1)
    expect(page.value('hookonce_rejected_total', { source: '(unknown)', reason: 'unknown_source' })).toBe(1)
    expect(page.value('hookonce_rejected_total', { source: 'hub', reason: 'bad_signature' })).toBe(1)
    expect(page.value('hookonce_rejected_total', { source: 'hub', reason: 'missing_signature' })).toBe(1)
    expect(page.value('hookonce_commit_deliveries_sum')).toBe(124 + 1)
    expect(page.value('hookonce_commit_seconds_count')).toBe(page.value('hookonce_commit_deliveries_count'))
    expect(page.value('hookonce_store_up')).toBe(1)
    for (const [name, type] of page.types) {
      expect(Object.values(metrics).some((one) => one.name === name && one.type === type)).toBe(true)
    }
  })

  test('every delivery that came was acknowledged, a handshake, or rejected, also in inline mode', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) } })
    inbox.on('shop', '*', (event) => {
      if (event.id.startsWith('bad')) throw new Error('no')
    })
    for (const id of ['good1', 'bad1', 'good1', 'good2', 'bad2']) await post(inbox, { id })
    await inbox.receive('shop', {
      method: 'GET',
      url: 'http://localhost/',
      headers: {},
      body: Buffer.from(''),
    })
    const page = readExposition(await metricsText(inbox))
    const total = (name: string) => page.series(name).reduce((all, one) => all + one.value, 0)
    expect(page.value('hookonce_rejected_total', { source: 'shop', reason: 'handler_failed' })).toBe(2)
    expect(total('hookonce_received_total')).toBe(6)
    expect(
      total('hookonce_ack_seconds_count') +
        total('hookonce_handshakes_total') +
        total('hookonce_rejected_total'),
    ).toBe(6)
  })

  test('counts leases that were lost, and what the store threw', async () => {
    const real = bench.store()
    let heard = false
    const store: Store = {
      ...real,
      async extend(leases, leaseMs) {
        if (heard) return real.extend(leases, leaseMs)
        heard = true
        return leases.map(() => false) // as if another process had taken it
      },
    }
    const { inbox } = bench.inbox({ store, processing: { lease: 4_000, poll: 20, retry: quickRetry } })
    inbox.on('shop', '*', async (_event, ctx) => {
      if (!heard) await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(
      async () => wholeInbox(inbox).counters.of('shop').attempts.lost === 1,
      'the attempt ended as lost',
    )
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'the next attempt succeeded')
    await inbox.stop()
    expect((await post(inbox, { id: 'e2' })).httpStatus).toBe(503)
    const page = readExposition(await metricsText(inbox))
    expect(page.value('hookonce_attempts_total', { source: 'shop', outcome: 'lost' })).toBe(1)
    expect(page.value('hookonce_rejected_total', { source: 'shop', reason: 'STORE_CLOSED' })).toBe(1)
    expect(page.value('hookonce_store_up')).toBe(0)
  })
})

test('a store that does not answer does not hold the page', async () => {
  const { createInbox, silentLog } = await import('hookonce')
  const never = new Proxy({} as never, { get: () => () => new Promise(() => {}) })
  const inbox = createInbox({ store: never, sources: { shop: shop() }, log: silentLog })
  const page = readExposition(await metricsText(inbox))
  expect(page.value('hookonce_store_up')).toBe(0)
})
