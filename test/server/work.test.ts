/** The worker API: workers of any language under the same leases. And the two examples, run as they are. */

import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HookonceError } from 'hookonce'
import { addDestinations } from 'hookonce/forward'
import { unverified } from 'hookonce/providers'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { defaultRetry } from '#dist/processing/failure.js'
import { startEndpoint } from '../support/endpoint.js'
import { secretOf } from '../support/inboxes.js'
import { ids, onBothLogs, onLog, post, postAll, shop, stateOf, until } from '../support/processing.js'
import { type RunningAdmin, startAdmin, tokenOf } from './support.js'

interface Claimed {
  readonly lease: string
  readonly id: string
  readonly body: string
  readonly attempt: number
  readonly retryInMs: number | null
  readonly idempotencyKey: string
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function started(...given: Parameters<typeof startAdmin>): Promise<RunningAdmin> {
  const running = await startAdmin(...given)
  cleanups.push(() => running.stop())
  return running
}

async function work<T>(running: RunningAdmin, verb: string, body: object, signal?: AbortSignal): Promise<T> {
  const response = await running.call('POST', `/api/work/${verb}`, {
    role: 'worker',
    body,
    ...(signal ? { signal } : {}),
  })
  expect([response.status, response.ok ? '' : await response.clone().text()]).toEqual([200, ''])
  return (await response.json()) as T
}

async function claim(running: RunningAdmin, body: object = {}, signal?: AbortSignal): Promise<Claimed[]> {
  return (await work<{ events: Claimed[] }>(running, 'claim', { worker: 'w', ...body }, signal)).events
}

type Results = { results: { lease: string; done: boolean; status: number; code: string | null }[] }

const succeeded = (lease: string) => ({
  settlements: [{ lease, outcome: { kind: 'succeeded' }, durationMs: 5 }],
})

onLog('PostgreSQL', (bench) => {
  test('each event of a delivery is claimed with its own part of the bytes', async () => {
    const sources = { shop: unverified({ each: 'events[]', id: 'json:id', type: 'json:type' }) }
    const { inbox } = bench.inbox({ processing: false, sources })
    const running = await started(inbox)
    const parts = Array.from(
      { length: 100 },
      (_, i) => `{"id":"e${i}",  "type":"t","note":"${'x'.repeat(1_000)}"}`,
    )
    const body = Buffer.from(`{"events":[${parts.join(',')}]}`)
    await inbox.receive('shop', { method: 'POST', url: 'http://localhost/webhooks/shop', headers: {}, body })
    const events = await claim(running, { limit: 100 })
    expect(events).toHaveLength(100)
    expect(events.map((event) => Buffer.from(event.body, 'base64').toString()).sort()).toEqual(
      parts.toSorted(),
    )
  })

  test('a claim hands out 8 MiB at most, or one event, and gives the rest back at once', async () => {
    const { inbox } = bench.inbox({ processing: false, limits: { bodyBytes: 20 * 1024 * 1024 } })
    const running = await started(inbox)
    const big = (bytes: number) => 'x'.repeat(bytes)
    for (let i = 0; i < 5; i++) await post(inbox, { id: `e${i}`, big: big(3 * 1024 * 1024) })
    const first = await claim(running, { limit: 5 })
    expect(first.map(({ id }) => id)).toEqual(['e0', 'e1'])
    const second = await claim(running, { limit: 5 })
    expect(second.map(({ id }) => id)).toEqual(['e2', 'e3'])
    expect((await claim(running, { limit: 5 })).map(({ id, attempt }) => [id, attempt])).toEqual([['e4', 1]])
    await post(inbox, { id: 'huge', big: big(12 * 1024 * 1024) })
    expect((await claim(running, { limit: 5 })).map(({ id }) => id)).toEqual(['huge'])
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ source: 'shop', eventId: 'e4' })
    expect(audits).toHaveLength(1)
  })

  test('a worker gets no paused event, and gets it at once when it is resumed', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await postAll(inbox, [{ id: 'a', type: 'held.back' }, { id: 'b' }, { id: 'c', type: 'held.again' }])
    await inbox.pause('shop', 'held.*')
    // The oldest one is paused: a claim of one event passes it.
    expect((await claim(running, { limit: 1 })).map(({ id }) => id)).toEqual(['b'])
    expect(await claim(running, { limit: 5 })).toEqual([])
    await inbox.pause('shop')
    await inbox.resume('shop', 'held.*')
    expect(await claim(running, { limit: 5 })).toEqual([])
    await inbox.resume('shop')
    const claimed = await claim(running, { limit: 5 })
    expect(claimed.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['a', 1],
      ['c', 1],
    ])
  })

  test('claims the bytes as they came, settles, and leaves attempts and an audit behind', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'a/1', note: 'ü' })
    const [event] = await claim(running, { worker: 'py-1' })
    expect(event).toMatchObject({
      id: 'a/1',
      source: 'shop',
      type: 'order.paid',
      attempt: 1,
      part: 0,
      leaseMs: 30_000,
    })
    const stored = await inbox.events.payload({ source: 'shop', id: 'a/1' })
    expect(Buffer.from(event!.body, 'base64').equals(Buffer.from(stored!.body))).toBe(true)
    expect(event!.retryInMs).toBeGreaterThan(0)
    expect(await claim(running)).toEqual([])
    const { results } = await work<Results>(running, 'settle', {
      settlements: [
        {
          lease: event!.lease,
          outcome: { kind: 'failed', error: 'no: Bearer abcdefghijkl', retryInMs: 0 },
          durationMs: 12,
        },
      ],
    })
    expect(results).toEqual([{ lease: event!.lease, done: true, status: 200, code: null }])
    const [again] = await claim(running, { worker: 'py-2', waitMs: 10_000 })
    expect(again).toMatchObject({ id: 'a/1', attempt: 2, idempotencyKey: event!.idempotencyKey })
    await work(running, 'settle', succeeded(again!.lease))
    expect(await stateOf(inbox, 'a/1')).toBe('succeeded')
    const attempts = await inbox.events.attempts({ source: 'shop', id: 'a/1' })
    expect(attempts.map(({ worker, outcome, detail }) => [worker, outcome, detail])).toEqual([
      ['py-1', 'failed', 'no: Bearer ***'],
      ['py-2', 'succeeded', null],
    ])
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ source: 'shop', eventId: 'a/1' })
    expect(audits.map(({ actor, verb, note }) => [actor, verb, note])).toEqual([
      ['the-worker', 'claim', 'worker py-2'],
      ['the-worker', 'claim', 'worker py-1'],
    ])
  })

  test('two workers share the work and never the same event', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await postAll(
      inbox,
      ids(40).map((id) => ({ id })),
    )
    const handled: string[] = []
    const run = async (worker: string) => {
      for (;;) {
        const events = await claim(running, { worker, limit: 3 })
        if (events.length === 0) return
        handled.push(...events.map(({ id }) => id))
        const settlements = events.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' } }))
        const { results } = await work<Results>(running, 'settle', { settlements })
        expect(results.every(({ done }) => done)).toBe(true)
      }
    }
    await Promise.all([run('one'), run('two')])
    expect(handled.sort()).toEqual(ids(40).sort())
    expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 40, pending: 0, processing: 0 })
  })

  test('a stale token changes nothing: 409 for each of them, and the new holder goes on', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'e1' })
    const [old] = await claim(running, { worker: 'frozen', leaseMs: 1_000 })
    // Waits for the lease to run out, by the store's clock.
    const [fresh] = await claim(running, { worker: 'next', waitMs: 20_000 })
    expect(fresh).toMatchObject({ id: 'e1', attempt: 2 })
    const lost = [{ lease: old!.lease, done: false, status: 409, code: 'LEASE_LOST' }]
    expect((await work<Results>(running, 'settle', succeeded(old!.lease))).results).toEqual(lost)
    expect((await work<Results>(running, 'extend', { leases: [old!.lease] })).results).toEqual(lost)
    expect((await work<Results>(running, 'release', { leases: [old!.lease] })).results).toEqual(lost)
    expect(await stateOf(inbox, 'e1')).toBe('processing')
    const extended = await work<Results>(running, 'extend', {
      leases: [old!.lease, fresh!.lease, 'x.y', '12'.repeat(40)],
    })
    expect(extended.results.map(({ done }) => done)).toEqual([false, true, false, false])
    expect((await work<Results>(running, 'settle', succeeded(fresh!.lease))).results[0]!.done).toBe(true)
    expect((await work<Results>(running, 'settle', succeeded(fresh!.lease))).results[0]!.status).toBe(409)
    expect(await stateOf(inbox, 'e1')).toBe('succeeded')
  })

  test('what is handed back is due again and its attempt does not count', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'e1' })
    const [first] = await claim(running)
    await work(running, 'release', { leases: [first!.lease] })
    const [second] = await claim(running, { waitMs: 10_000 })
    expect(second).toMatchObject({ id: 'e1', attempt: 1 })
  })

  test('who waits is woken by what this process or another records', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const other = bench.inbox({ processing: false }).inbox
    await other.start()
    const running = await started(inbox)
    const first = claim(running, { waitMs: 30_000 })
    await post(inbox, { id: 'here' })
    expect(await first).toMatchObject([{ id: 'here' }])
    const second = claim(running, { waitMs: 30_000 })
    await post(other, { id: 'there' })
    expect(await second).toMatchObject([{ id: 'there' }])
  })

  test('a worker that went away while it waited takes nothing with it', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    const gone = new AbortController()
    const waiting = claim(running, { waitMs: 30_000 }, gone.signal).catch(() => 'gone')
    await new Promise((resolve) => setTimeout(resolve, 50))
    gone.abort()
    expect(await waiting).toBe('gone')
    await post(inbox, { id: 'e1' })
    expect(await claim(running, { waitMs: 20_000 })).toMatchObject([{ id: 'e1', attempt: 1 }])
  })

  test('without an audit nobody gets a byte: not by a claim, not by reading', async () => {
    const store = bench.store()
    const { inbox } = bench.inbox({ store: withoutAudit(store), processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'e1', note: 'c4n4ry' })
    const refused = await running.call('POST', '/api/work/claim', { role: 'worker', body: { worker: 'w' } })
    expect([refused.status, (await refused.text()).includes('lease')]).toEqual([503, false])
    expect(await stateOf(inbox, 'e1')).toBe('pending')
    const read = await running.call('GET', '/api/events/shop/e1/payload')
    expect([read.status, (await read.text()).includes('c4n4ry')]).toEqual([503, false])
  })

  test('an event that kills its workers ends in the dead letters', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'killer' })
    const store = await wholeInbox(inbox).store()
    const handed: number[] = []
    // Each worker is lost: nobody settles, and the lease runs out by the store's clock.
    for (let i = 0; i < defaultRetry.maxAttempts; i++) {
      const last = i === defaultRetry.maxAttempts - 1
      await until(
        async () => {
          const [event] = last
            ? await claim(running, { leaseMs: 1_000 })
            : await store.claim({ worker: 'lost', limit: 1, leaseMs: 1 })
          if (event) handed.push(event.attempt)
          return event !== undefined
        },
        `attempt ${i + 1}`,
      )
    }
    expect(handed.at(-1)).toBe(defaultRetry.maxAttempts)
    await until(async () => {
      expect(await claim(running)).toEqual([])
      // A lease that ran out leaves it failed as well, but with a time to come.
      const { state, nextAttemptAt } = (await inbox.events.get({ source: 'shop', id: 'killer' }))!
      return state === 'failed' && nextAttemptAt === null
    }, 'given up')
    expect(await inbox.events.get({ source: 'shop', id: 'killer' })).toMatchObject({
      nextAttemptAt: null,
      reason: expect.stringContaining('its attempts were used up'),
    })
  })

  test('an event whose key is not there fails its attempt; its neighbours are handed out, decrypted', async () => {
    const keys = { old: Buffer.alloc(32, 1).toString('hex'), new: Buffer.alloc(32, 2).toString('hex') }
    const before = bench.inbox({ processing: false, encryption: { current: 'old', keys } }).inbox
    await post(before, { id: 'lost' })
    const { inbox } = bench.inbox({
      processing: false,
      encryption: { current: 'new', keys: { new: keys.new } },
    })
    await post(inbox, { id: 'kept', note: 'readable' })
    const running = await started(inbox)
    const events = await claim(running, { limit: 10 })
    expect(events.map(({ id }) => id)).toEqual(['kept'])
    expect(Buffer.from(events[0]!.body, 'base64').toString()).toContain('readable')
    expect(await inbox.events.get({ source: 'shop', id: 'lost' })).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('"old"'),
      nextAttemptAt: expect.any(Number),
    })
  })

  test('a source that this process does not handle is left to a worker, beside destinations for another', async () => {
    const endpoint = await startEndpoint()
    cleanups.push(() => endpoint.close())
    const { inbox } = bench.inbox({ sources: { shop: shop(), desk: shop() } })
    addDestinations(inbox, {
      app: {
        url: endpoint.url,
        sources: ['shop'],
        allowPrivate: ['127.0.0.0/8'],
        secret: `whsec_${btoa(secretOf('app'))}`,
      },
    })
    const running = await started(inbox)
    await inbox.start()
    await postAll(inbox, [{ id: 'd1' }, { id: 'd2' }], 'desk')
    await post(inbox, { id: 's1' })
    await until(
      async () => (await stateOf(inbox, 's1', 'shop/app')) === 'succeeded',
      'the destination has its event',
    )
    expect([await stateOf(inbox, 'd1', 'desk'), await stateOf(inbox, 'd2', 'desk')]).toEqual([
      'pending',
      'pending',
    ])
    const events = await claim(running, { sources: ['desk'], limit: 10 })
    expect(events.map(({ id }) => id).sort()).toEqual(['d1', 'd2'])
    for (const { lease } of events) await work<Results>(running, 'settle', succeeded(lease))
    expect(await stateOf(inbox, 'd1', 'desk')).toBe('succeeded')
  })

  test('events whose type has no handler are left to a worker that claims their source', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', 'order.paid', () => {})
    await inbox.start()
    const running = await started(inbox)
    expect(await claim(running, { sources: ['shop'] })).toEqual([])
    const refunds = ids(5).map((id) => ({ id, type: 'order.refunded' }))
    await postAll(inbox, refunds)
    const handled: string[] = []
    while (handled.length < refunds.length)
      for (const { id, lease } of await claim(running, { sources: ['shop'], limit: 10, waitMs: 1_000 })) {
        await work<Results>(running, 'settle', succeeded(lease))
        handled.push(id)
      }
    expect(handled.sort()).toEqual(ids(5))
    expect((await inbox.events.list({ state: 'ignored' })).events).toEqual([])
  })

  test('a consumer that is left to workers gets its types, and the handlers of the process get theirs', async () => {
    const { inbox } = bench.inbox({ workers: { 'shop/billing': ['invoice.*'] } })
    const running = await started(inbox)
    const handled: string[] = []
    inbox.on('shop', '*', ({ id }) => void handled.push(id))
    await inbox.start()
    await postAll(inbox, [{ id: 'o' }, { id: 'i', type: 'invoice.paid' }])
    const [event] = await claim(running, { sources: ['shop/billing'], waitMs: 10_000 })
    expect(event!.id).toBe('i')
    await until(() => handled.length === 2, 'the handler has both')
    await work<Results>(running, 'settle', succeeded(event!.lease))
    expect(await stateOf(inbox, 'i', 'shop/billing')).toBe('succeeded')
    await post(inbox, { id: 'o2' })
    await until(() => handled.length === 3, 'the handler has it')
    expect(await claim(running, { sources: ['shop/billing'] })).toEqual([])
    expect(await stateOf(inbox, 'o2', 'shop/billing')).toBe(undefined)
    const response = await running.call('POST', '/api/work/claim', {
      role: 'worker',
      body: { worker: 'w', sources: ['shop/none'] },
    })
    expect(response.status).toBe(404)
  })

  test('types that are left to workers wait for them, beside destinations and before any worker has asked', async () => {
    const { inbox } = bench.inbox({ workers: { shop: ['order.*'] } })
    inbox.on('shop', 'order.*', () => {}, { consumer: 'mail' })
    await inbox.start()
    await postAll(inbox, [{ id: 'a' }, { id: 'b' }])
    await until(async () => (await stateOf(inbox, 'b', 'shop/mail')) === 'succeeded', 'the consumer has them')
    expect(await stateOf(inbox, 'a')).toBe('pending')
    const events = await claim(await started(inbox), { sources: ['shop'], limit: 10 })
    expect(events.map(({ id }) => id).sort()).toEqual(['a', 'b'])
  })

  test('sources that are handled in the request are not handed out', async () => {
    const sources = { shop: shop(), desk: shop({ mode: 'inline' }) }
    const { inbox } = bench.inbox({ sources, processing: false })
    const running = await started(inbox)
    const response = await running.call('POST', '/api/work/claim', {
      role: 'worker',
      body: { worker: 'w', sources: ['desk'] },
    })
    expect(response.status).toBe(404)
  })
})

onBothLogs((bench) => {
  describe('references that a worker has learned', () => {
    const key = (id: string) => ({ source: 'shop', id })
    const settleWith = (lease: string, references: unknown, outcome: object = { kind: 'succeeded' }) => ({
      settlements: [{ lease, outcome, references }],
    })

    test('are written with the outcome, unless the attempt has failed', async () => {
      const { inbox } = bench.inbox({ processing: false })
      const running = await started(inbox)
      await postAll(
        inbox,
        ['done', 'ignored', 'dead'].map((id) => ({ id })),
      )
      const outcomes: Record<string, object> = {
        done: { kind: 'succeeded' },
        ignored: { kind: 'ignored', reason: 'a test order' },
        dead: { kind: 'failed', error: 'no', retryInMs: null },
      }
      const settlements = (await claim(running, { limit: 3 })).map(({ id, lease }) => ({
        lease,
        outcome: outcomes[id],
        references: [
          { label: 'payment', value: `of ${id}` },
          { label: 'row', value: 42 },
        ],
      }))
      const { results } = await work<Results>(running, 'settle', { settlements })
      expect(results.map(({ done }) => done)).toEqual([true, true, true])
      const { events } = await inbox.events.list({ reference: 'of done', label: 'payment' })
      expect(events).toMatchObject([
        {
          id: 'done',
          state: 'succeeded',
          references: [
            { label: 'payment', value: 'of done' },
            { label: 'row', value: '42' },
          ],
        },
      ])
      const found = await inbox.events.list({ reference: '42', label: 'row' })
      expect(found.events.map(({ id }) => id).sort()).toEqual(['done', 'ignored'])
    })

    test('are not written when the lease is lost', async () => {
      const { inbox } = bench.inbox({ processing: false })
      const running = await started(inbox)
      await post(inbox, { id: 'e1' })
      const [old] = await claim(running)
      await work(running, 'release', { leases: [old!.lease] })
      const [fresh] = await claim(running, { waitMs: 10_000 })
      const late = settleWith(old!.lease, [{ label: 'payment', value: 'late' }])
      expect((await work<Results>(running, 'settle', late)).results[0]).toMatchObject({ status: 409 })
      const now = settleWith(fresh!.lease, [{ label: 'payment', value: 'now' }])
      expect((await work<Results>(running, 'settle', now)).results[0]).toMatchObject({ done: true })
      expect((await work<Results>(running, 'settle', late)).results[0]).toMatchObject({ status: 409 })
      expect(await inbox.events.get(key('e1'))).toMatchObject({
        state: 'succeeded',
        references: [{ label: 'payment', value: 'now' }],
      })
    })

    test('are kept as those of ctx.refer, and what is no label or value is refused before anything is written', async () => {
      const { inbox, lines } = bench.inbox({ processing: false })
      const running = await started(inbox)
      await post(inbox, { id: 'e1' })
      const [{ lease } = { lease: '' }] = await claim(running)
      const wrong: [unknown, string][] = [
        [{ label: 'reference', value: 'x' }, 'cannot be \\"reference\\"'],
        [{ label: 'no label', value: 'x' }, 'must be 1 to 64 letters'],
        [{ label: 'l'.repeat(65), value: 'x' }, 'must be 1 to 64 letters'],
        [{ label: 'order', value: '' }, 'must be text that is not empty'],
        [{ label: 'order', value: 2 ** 53 }, 'must be text that is not empty'],
        [{ label: 'order' }, 'must be text that is not empty'],
      ]
      for (const [reference, problem] of wrong) {
        const body = settleWith(lease, [{ label: 'payment', value: 'p' }, reference])
        const refused = await running.call('POST', '/api/work/settle', { role: 'worker', body })
        const text = await refused.text()
        expect([refused.status, text]).toEqual([400, expect.stringContaining('settlements.0.references.1')])
        expect(text).toContain(problem)
      }
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'processing', references: [] })
      const values = ['v'.repeat(256), 'tab\there', ...ids(19), 'e1', 'one more']
      const references = values.map((value) => ({ label: 'payment', value }))
      const { results } = await work<Results>(running, 'settle', settleWith(lease, references))
      expect(results[0]).toMatchObject({ done: true })
      const kept = (await inbox.events.get(key('e1')))!.references.map(({ value }) => value)
      expect(kept).toHaveLength(20)
      expect(kept).toEqual(
        expect.arrayContaining(['tab\ufffdhere', expect.stringMatching(/^sha256:[0-9a-f]{64}$/)]),
      )
      expect(kept).not.toContain('one more')
      expect(lines.filter(({ msg }) => msg.includes('only the first 20'))).toMatchObject([
        { source: 'shop', eventId: 'e1' },
      ])
    })
  })
})

/** A log that can be read and worked on, and not audited. */
function withoutAudit(store: CompleteStore): CompleteStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'audit')
        return {
          ...target.audit,
          append: () => target.audit.append([]).then(() => Promise.reject(outage())),
        }
      const value = Reflect.get(target, name) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function outage(): Error {
  return new HookonceError('STORE_UNAVAILABLE', { problem: 'the audit is full' })
}

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const found = (command: string) => spawnSync(command, ['--version']).status === 0

/** Runs a program to its end and gives what it wrote. */
function run(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
    })
    child.on('close', (code) => resolve({ code, out }))
  })
}

describe('the example workers', () => {
  // They go on until nothing is due: what has failed must not be due again while they run.
  const late = { firstDelay: '1h', maxDelay: '1h' } as const

  onLog('PostgreSQL', (bench) => {
    test.skipIf(!found('python3'))('python: handles, ignores and fails, and says so', async () => {
      const { inbox } = bench.inbox({ processing: { retry: late } })
      const running = await started(inbox)
      await postAll(inbox, [
        { id: 'ok "1"' },
        { id: 'ok2' },
        { id: 'bad', fail: true },
        { id: 'test', test: true },
      ])
      const env = { HOOKONCE_URL: running.url, HOOKONCE_TOKEN: tokenOf('worker'), HOOKONCE_WORKER: 'snake' }
      const { code, out } = await run('python3', [`${examples}worker-python/worker.py`, '--drain'], env)
      expect(code).toBe(0)
      expect(out).toContain('shop order.paid ok "1" hookonce_')
      expect([await stateOf(inbox, 'ok "1"'), await stateOf(inbox, 'ok2')]).toEqual([
        'succeeded',
        'succeeded',
      ])
      expect(await inbox.events.get({ source: 'shop', id: 'bad' })).toMatchObject({
        state: 'failed',
        reason: 'ValueError',
        attempts: 1,
        nextAttemptAt: expect.any(Number),
      })
      expect(await inbox.events.get({ source: 'shop', id: 'test' })).toMatchObject({
        state: 'ignored',
        reason: 'a test order',
      })
      const [attempt] = await inbox.events.attempts({ source: 'shop', id: 'ok2' })
      expect(attempt!.worker).toBe('snake')
      const refused = await run('python3', [`${examples}worker-python/worker.py`], {
        ...env,
        HOOKONCE_TOKEN: tokenOf('viewer'),
      })
      expect(refused.code).toBe(1)
    })

    test.skipIf(!found('curl'))(
      'shell: the payload comes byte for byte, and the exit status is the outcome',
      async () => {
        const { inbox } = bench.inbox({ processing: { retry: late } })
        const running = await started(inbox)
        await postAll(inbox, [
          { id: 'ok "1" \\', note: '"body":"x", "lease":"1.2"' },
          { id: 'bad', fail: true },
        ])
        const env = {
          HOOKONCE_URL: running.url,
          HOOKONCE_TOKEN: tokenOf('worker'),
          HOOKONCE_WORKER: 'shell',
          DRAIN: '1',
        }
        const script = `p=$(cat); printf '%s\\n' "$EVENT_SOURCE $EVENT_TYPE $EVENT_ID $IDEMPOTENCY_KEY" "$p"
        case $p in *fail*) exit 7;; esac`
        const { code, out } = await run(`${examples}worker-shell/worker.sh`, ['sh', '-c', script], env)
        expect(code).toBe(0)
        expect(out).toContain('shop order.paid ok \\"1\\" \\\\ hookonce_')
        const { body } = (await inbox.events.payload({ source: 'shop', id: 'ok "1" \\' }))!
        expect(out).toContain(Buffer.from(body).toString())
        expect(await stateOf(inbox, 'ok "1" \\')).toBe('succeeded')
        expect(await inbox.events.get({ source: 'shop', id: 'bad' })).toMatchObject({
          state: 'failed',
          reason: 'exit status 7',
          nextAttemptAt: expect.any(Number),
        })
        await until(async () => (await inbox.events.stats())[0]!.processing === 0, 'nothing is held')
      },
    )
  })
})

onLog('PostgreSQL', (bench) => {
  test('a worker is told the waits and attempts of the configuration, and of the handler for its type', async () => {
    const { inbox } = bench.inbox({
      processing: { retry: { maxAttempts: 2, firstDelay: 5_000_000, maxDelay: 5_000_000 } },
    })
    inbox.on('shop', 'own.*', () => {}, { retry: { maxAttempts: 1 } })
    const running = await started(inbox)
    await postAll(inbox, [{ id: 'e1' }, { id: 'e2', type: 'own.type' }])
    const events = await claim(running, { limit: 2 })
    const waits = Object.fromEntries(events.map(({ id, retryInMs }) => [id, retryInMs]))
    expect(waits.e1).toBeGreaterThanOrEqual(2_500_000)
    expect(waits.e2).toBeNull()
    // Handed out as often as the configuration says, and no more.
    const outcome = { kind: 'failed', error: 'no', retryInMs: 0 }
    const [first] = events.filter(({ id }) => id === 'e1')
    await work(running, 'settle', { settlements: [{ lease: first!.lease, outcome }] })
    const [second] = await claim(running)
    expect(second).toMatchObject({ id: 'e1', retryInMs: null })
    await work(running, 'settle', { settlements: [{ lease: second!.lease, outcome }] })
    expect(await claim(running)).toEqual([])
    expect(await inbox.events.get({ source: 'shop', id: 'e1' })).toMatchObject({
      state: 'failed',
      nextAttemptAt: null,
    })
  })

  test('errors and reasons of a worker are redacted as those of a handler, also through another process', async () => {
    const options = { redact: { paths: ['customer'], patterns: [/BUILD-\d+/] } }
    const { inbox } = bench.inbox(options)
    const { inbox: other } = bench.inbox(options)
    const [running, elsewhere] = [await started(inbox), await started(other)]
    const customer = { email: 'ada@example.com', note: 'a long sentence of the payload' }
    await postAll(inbox, [
      { id: 'e1', customer },
      { id: 'e2', customer },
    ])
    const text = 'BUILD-4711 of ada@example.com: a long sentence of the payload (ghp_0123456789abcdef)'
    const [one, two] = await claim(running, { limit: 2 })
    await work(elsewhere, 'settle', {
      settlements: [
        { lease: one!.lease, outcome: { kind: 'failed', error: text, retryInMs: null } },
        { lease: two!.lease, outcome: { kind: 'ignored', reason: text } },
      ],
    })
    for (const eventId of ['e1', 'e2']) {
      const event = await inbox.events.get({ source: 'shop', id: eventId })
      expect([eventId, event?.state]).toEqual([eventId, eventId === one!.id ? 'failed' : 'ignored'])
      expect(event?.reason).toMatch(/ of .*: .*\(.*\)/)
      for (const part of ['BUILD', 'ada@', 'example.com', 'long sentence', '0123456789abcdef'])
        expect(event?.reason).not.toContain(part)
    }
  })
})
