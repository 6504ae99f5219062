/** What the dashboard asks the admin API for, on both stores: counts by time, groups, searches, copies and pauses. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import type { Inbox } from 'hookonce'
import { createInbox, silentLog } from 'hookonce'
import { gitlab, stripe, unverified } from 'hookonce/providers'
import { createServer } from 'hookonce/server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { patternOf } from '#dist/server/admin/dead-letters.js'
import { candidatesOf } from '#dist/server/admin/find.js'
import { latencyOf } from '#dist/server/admin/overview.js'
import { stepsOf, valuesAt } from '#dist/server/admin/payload-search.js'
import { onLog, post, postAll } from '../support/processing.js'
import { acted, pathOf, type RunningAdmin, startAdmin } from './support.js'

interface Overview {
  totals: Record<string, number>
  series: Record<string, number[]>
  at: string[]
  sources: { source: string; totals: Record<string, number>; received: number[] }[]
  latency: { ack: { count: number; p95Ms: number | null }; handle: { count: number } }
  now: Record<string, number | null>
}

let running: RunningAdmin | undefined
afterEach(async () => {
  await running?.stop()
  running = undefined
})

const noRetry = { processing: { lease: 5_000, poll: 50, retry: { maxAttempts: 1 } } } as const

function failing(inbox: Inbox): void {
  inbox.on('shop', 'order.paid', () => {})
  inbox.on('shop', 'order.failed', (event) => {
    throw new Error(`the ledger answered 503 for order ${event.id} after 12 ms`)
  })
}

onLog('SQLite', (bench) => {
  test('the overview counts deliveries, duplicates, outcomes and conflicts, and survives a restart', async () => {
    const { inbox } = bench.inbox(noRetry)
    failing(inbox)
    await inbox.start()
    await postAll(inbox, [{ id: 'e1' }, { id: 'e2' }, { id: 'f1', type: 'order.failed' }])
    await post(inbox, { id: 'e1' })
    await post(inbox, { id: 'e1', other: 'bytes' })
    await inbox.drain()
    await inbox.stop()

    const { inbox: next } = bench.inbox(noRetry)
    running = await startAdmin(next)
    for (const window of ['1h', '24h', '7d', '30d']) {
      const overview = (await running.json('GET', `/api/overview?window=${window}`)) as unknown as Overview
      expect([window, overview.totals]).toEqual([
        window,
        {
          ...{ received: 5, recorded: 3, duplicates: 2, conflicts: 1, rejected: 0, flagged: 0 },
          ...{ succeeded: 2, ignored: 0, failed: 1, dead: 1 },
        },
      ])
      expect(overview.series.received!.reduce((a, b) => a + b)).toBe(5)
      expect(overview.series.received!.length).toBe(overview.at.length)
      expect(overview.sources.map(({ source, totals }) => [source, totals.received])).toEqual([['shop', 5]])
      expect(overview.latency.ack.count).toBe(5)
      expect(overview.latency.ack.p95Ms).toBeGreaterThan(0)
      expect(overview.latency.handle.count).toBe(3)
      expect(overview.now.dead).toBe(1)
    }
  })

  test('readings of the overview write its counts once a second at most, and are up to date', async () => {
    const { inbox } = bench.inbox(noRetry)
    const store = await wholeInbox(inbox).store()
    const add = vi.spyOn(store.history!, 'add')
    running = await startAdmin(inbox)
    const startedAt = performance.now()
    for (let n = 1; n <= 20; n++) {
      await post(inbox, { id: `e${n}` })
      const overview = (await running.json('GET', '/api/overview?window=1h')) as unknown as Overview
      expect([overview.totals.received, overview.latency.ack.count]).toEqual([n, n])
    }
    expect(add.mock.calls.length).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 1_000)
  })

  test('what needs attention links to its events and says what to do', async () => {
    const { inbox } = bench.inbox(noRetry)
    failing(inbox)
    await postAll(inbox, [
      { id: 'order_1', type: 'order.failed' },
      { id: 'order_2', type: 'order.failed' },
      { id: 'odd', type: 'order.odd' },
    ])
    await post(inbox, { id: 'order_1', type: 'order.failed', other: 'bytes' })
    await inbox.drain()
    await inbox.pause('shop', 'order.paid')
    running = await startAdmin(inbox)
    const { items } = (await running.json('GET', '/api/attention')) as {
      items: {
        kind: string
        title: string
        todo: string
        filter: Record<string, string> | null
        count: number | null
      }[]
    }
    expect(items.find(({ kind }) => kind === 'conflicts')?.title).toBe(
      '1 event of shop came again with other content',
    )
    const kinds = items.map(({ kind }) => kind)
    for (const kind of ['dead_letters', 'conflicts', 'unhandled', 'paused', 'unverified'])
      expect(kinds).toContain(kind)
    expect(items.filter(({ todo }) => todo === '')).toEqual([])
    for (const item of items) {
      if (item.filter === null) continue
      const query = new URLSearchParams(item.filter)
      const { events } = (await running.json('GET', `/api/events?${query}`)) as { events: object[] }
      expect([item.kind, events.length > 0]).toEqual([item.kind, true])
      if (item.kind === 'dead_letters') expect(events.length).toBe(item.count)
    }
  })

  test('a conflict needs attention until somebody decides, however long ago it came', async () => {
    const { inbox } = bench.inbox(noRetry)
    const ids = ['e1', 'e2']
    await postAll(
      inbox,
      ids.map((id) => ({ id })),
    )
    // Recorded past the counters, which say nothing about a conflict of another day.
    const store = await wholeInbox(inbox).store()
    const body = Buffer.from('other bytes')
    const contentHash = createHash('sha256').update(body).digest()
    const events = ids.map((id) => ({ id, type: 'x', reference: null, contentHash, guardHash: null }))
    await store.record([{ source: 'shop', headers: {}, body, events, contentGuard: 'accept' }])
    running = await startAdmin(inbox)
    const conflicts = async () => {
      const { items } = (await running!.json('GET', '/api/attention')) as { items: { kind: string }[] }
      return items.find(({ kind }) => kind === 'conflicts')
    }
    expect(await conflicts()).toMatchObject({
      title: '2 events of shop came again with other content',
      count: 2,
      filter: { source: 'shop', hasConflict: 'true' },
    })
    await inbox.ignore({ source: 'shop', id: 'e1' }, { conflict: true, note: 'the first is right' })
    expect(await conflicts()).toMatchObject({ title: '1 event of shop came again with other content' })
    const action = { verb: 'ignore', conflict: true, filter: { hasConflict: true } }
    const [counted, done] = [await acted(running, { ...action, dryRun: true }), await acted(running, action)]
    expect([counted, done]).toMatchObject([
      { dryRun: true, matched: 1, done: 1 },
      { dryRun: false, matched: 1, done: 1 },
    ])
    expect(await conflicts()).toBeUndefined()
    expect(await inbox.events.get({ source: 'shop', id: 'e2' })).toMatchObject({
      state: 'pending',
      conflicts: 1,
    })
  })

  test('dead letters whose errors differ in numbers and ids are one group, and its filter replays just these', async () => {
    const { inbox } = bench.inbox(noRetry)
    failing(inbox)
    inbox.on('shop', 'order.other', () => {
      throw new Error('another reason')
    })
    await postAll(inbox, [
      { id: 'order_100001', type: 'order.failed' },
      { id: 'order_100002', type: 'order.failed' },
      { id: 'x', type: 'order.other' },
    ])
    await inbox.drain()
    running = await startAdmin(inbox)
    const { groups } = (await running.json('GET', '/api/dead-letters')) as {
      groups: { error: string; count: number; filter: Record<string, string>; types: string[] }[]
    }
    expect(groups.map(({ count, types }) => [count, types]).sort()).toEqual([
      [1, ['order.other']],
      [2, ['order.failed']],
    ])
    const { filter } = groups.find(({ count }) => count === 2)!
    const action = await acted(running, {
      verb: 'replay',
      filter: { ...filter, dead: true },
      dryRun: true,
    })
    expect(action).toMatchObject({ state: 'done', matched: 2, done: 2, dryRun: true })
    const chosen = await acted(running, {
      verb: 'retry',
      events: [
        { source: 'shop', id: 'x' },
        { source: 'shop', id: 'none' },
      ],
    })
    expect(chosen).toMatchObject({ matched: 2, done: 1, refused: { EVENT_NOT_FOUND: 1 } })
    const { actions } = (await running.json('GET', '/api/actions')) as { actions: { id: string }[] }
    expect(actions[0]!.id).toBe(chosen.id)
  })

  test('an event is found by its id, its beginning, its reference, and a URL or a text that contains them', async () => {
    const { inbox } = bench.inbox()
    await postAll(inbox, [{ id: 'evt_1NabcXYZ', ref: 'cus_42' }, { id: 'evt_2' }])
    running = await startAdmin(inbox)
    const found = async (q: string) => {
      const { matches } = (await running!.json('GET', `/api/find?q=${encodeURIComponent(q)}`)) as {
        matches: { event: { id: string }; by: string }[]
      }
      return matches.map(({ event, by }) => `${by} ${event.id}`)
    }
    expect(await found(' evt_1NabcXYZ\n')).toEqual(['id evt_1NabcXYZ'])
    expect(await found('cus_42')).toEqual(['reference evt_1NabcXYZ'])
    expect(await found('evt_1Nab…')).toEqual(['id_prefix evt_1NabcXYZ'])
    expect(await found('https://dashboard.example.com/test/events/evt_1NabcXYZ?tab=log#x')).toEqual([
      'id evt_1NabcXYZ',
    ])
    expect(await found('Ticket: the customer (cus_42) was not charged, see "evt_2".')).toEqual([
      'reference evt_1NabcXYZ',
      'id evt_2',
    ])
    expect(await found('{"id":"evt_2","object":"event"}')).toEqual(['id evt_2'])
    expect(await found('nothing\u0000like it')).toEqual([])
  })

  test('events are found by any of their references, with the label or without, in the box and in the list', async () => {
    const references = { customer: 'json:customer', order: 'json:order' }
    const source = unverified({ id: 'json:id', type: 'json:type', reference: 'json:order', references })
    const { inbox } = bench.inbox({ sources: { shop: source } })
    await postAll(inbox, [
      { id: 'a', order: '25', customer: '7' },
      { id: 'b', order: '26', customer: '25' },
      { id: 'c', order: 'order:27' },
    ])
    running = await startAdmin(inbox)
    const idsOf = async (path: string, list: 'matches' | 'events') => {
      const answer = (await running!.json('GET', path)) as Record<
        string,
        { id?: string; event?: { id: string } }[]
      >
      return answer[list]!.map(({ id, event }) => event?.id ?? id).sort()
    }
    const found = (q: string) => idsOf(`/api/find?q=${encodeURIComponent(q)}`, 'matches')
    const listed = (query: string) => idsOf(`/api/events?${query}`, 'events')
    expect(await found('25')).toEqual(['a', 'b'])
    expect(await found('customer:25')).toEqual(['b'])
    expect(await found('order:27')).toEqual(['c'])
    expect(await listed('reference=25')).toEqual(['a', 'b'])
    expect(await listed('reference=25&label=customer')).toEqual(['b'])
    expect(await listed('q=25')).toEqual(['a', 'b'])
    expect(await running!.json('GET', '/api/events/shop/b')).toMatchObject({
      reference: '26',
      references: [
        { label: 'order', value: '26' },
        { label: 'customer', value: '25' },
      ],
    })
    expect(await running!.json('GET', '/api/events?label=customer')).toMatchObject({ status: 400 })
  })

  test('a search of payloads stops at its limit of bytes, and goes on behind the last event it has read', async () => {
    const { inbox } = bench.inbox({ processing: false, limits: { bodyBytes: 20 * 1024 * 1024 } })
    running = await startAdmin(inbox)
    const big = 'x'.repeat(12 * 1024 * 1024)
    for (let i = 0; i < 7; i++) await post(inbox, { id: `e${i}`, big })
    const found: string[] = []
    let cursor = ''
    for (let calls = 0; calls < 20; calls++) {
      const page = (await running.json('GET', `/api/search?path=id&op=exists&limit=100${cursor}`)) as {
        events: { id: string }[]
        next: string | null
        cost: { bytes: number }
      }
      found.push(...page.events.map(({ id }) => id))
      expect(page.cost.bytes).toBeLessThan(2 * 64 * 1024 * 1024)
      if (page.next === null) break
      cursor = `&cursor=${encodeURIComponent(page.next)}`
    }
    expect(found.toSorted()).toEqual(Array.from({ length: 7 }, (_, i) => `e${i}`))
  })

  test('a payload that is nested too deeply to be shown does not break a search', async () => {
    const sources = { shop: unverified({ id: ['header:x-id', 'json:id'], type: 'json:type' }) }
    const { inbox } = bench.inbox({ processing: false, sources })
    running = await startAdmin(inbox)
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const body = Buffer.from(`{"id":"deep","type":"t","a":${deep}}`)
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: { 'x-id': 'deep' },
      body,
    })
    expect(await inbox.events.get({ source: 'shop', id: 'deep' })).not.toBeNull()
    await post(inbox, { id: 'e1', a: 'needle' })
    const { events } = (await running.json('GET', '/api/search?path=a&op=contains&value=needle')) as {
      events: { id: string }[]
    }
    expect(events.map(({ id }) => id)).toEqual(['e1'])
  })

  test('payloads are searched by a JSON path, with the cost in the answer and the search in the audit', async () => {
    const { inbox } = bench.inbox()
    await postAll(
      inbox,
      Array.from({ length: 30 }, (_, i) => ({
        id: `e${i}`,
        data: { items: [{ sku: `s${i % 3}`, price: i }] },
      })),
    )
    running = await startAdmin(inbox)
    const search = (query: string) => running!.json('GET', `/api/search?${query}`)
    // A search ends after a second, and a busy machine may need longer for all pages.
    const ids = async (query: string) => {
      const found: string[] = []
      for (let cursor: unknown = ''; cursor !== null; ) {
        const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
        const { events, next } = await search(`${query}${more}`)
        found.push(...(events as { id: string }[]).map(({ id }) => id))
        cursor = next
      }
      return found
    }
    expect((await ids('path=$.data.items[0].sku&value=s1')).length).toBe(10)
    expect(await ids('path=data.items[*].price&op=gt&value=27')).toEqual(['e29', 'e28'])
    expect(await ids('path=**.price&op=eq&value=27')).toEqual(['e27'])
    expect((await ids('path=$.**.items[0].sku&op=eq&value=s1')).length).toBe(10)
    expect((await ids('path=**&op=contains&value=S1')).length).toBe(10)
    expect(await ids('path=**&op=contains&value=price')).toEqual([])
    expect(await ids('path=$.data.none&op=exists')).toEqual([])
    await expect.poll(() => search('path=id&value=e3')).toMatchObject({ cut: false, cost: { events: 30 } })
    const { audits } = (await running.json('GET', '/api/audits?verb=search')) as {
      audits: { note: string }[]
    }
    expect(audits[0]!.note).toBe('id eq')
  })

  test('matches are counted with the filters of the list, up to 1,000', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const refs = Array.from({ length: 1_040 }, (_, i) => ({ id: `e${i}`, ref: i < 1_020 ? 'many' : 'few' }))
    for (let i = 0; i < refs.length; i += 40)
      await Promise.all(refs.slice(i, i + 40).map((event) => post(inbox, event)))
    running = await startAdmin(inbox)
    const count = (query: string) => running!.json('GET', `/api/events/count?${query}`)
    // A busy machine may reach the limit of time first.
    await expect.poll(() => count('reference=few')).toEqual({ count: 20, more: false })
    await expect.poll(() => count('q=few&state=pending')).toEqual({ count: 20, more: false })
    await expect.poll(() => count('reference=nobody')).toEqual({ count: 0, more: false })
    const many = (await count('reference=many')) as { count: number; more: boolean }
    expect([many.more, many.count === 1_000 || many.count === 500]).toEqual([true, true])
  })

  test('an edited copy is a new event, marked by its id, recorded once and audited on both', async () => {
    const { inbox } = bench.inbox()
    const seen: string[] = []
    inbox.on('shop', '*', (event) => void seen.push(`${event.id} ${JSON.stringify(event.payload)}`))
    await post(inbox, { id: 'e1', ref: 'r', amount: 1 })
    await inbox.drain()
    running = await startAdmin(inbox)
    const body = Buffer.from('{"id":"e1","type":"order.paid","amount":2}').toString('base64')
    const order = (more: object) => running!.json('POST', `${pathOf('shop', 'e1')}/copies`, { body, ...more })
    const dry = await order({ note: 'wrong amount', dryRun: true })
    expect(dry).toMatchObject({ source: 'shop', dryRun: true, duplicate: false })
    expect(await inbox.events.get({ source: 'shop', id: String(dry.id) })).toBeNull()
    const made = await order({ note: 'wrong amount' })
    expect(made).toMatchObject({ id: dry.id, duplicate: false })
    expect(String(made.id)).toMatch(/^e1~edited-[0-9a-f]{8}$/)
    // Cut to the bytes that the audit takes, not refused.
    expect(await order({ note: '金'.repeat(333) })).toMatchObject({ id: dry.id, duplicate: true })
    await inbox.drain()
    expect(seen).toEqual([
      'e1 {"type":"order.paid","id":"e1","ref":"r","amount":1}',
      `${made.id} {"id":"e1","type":"order.paid","amount":2}`,
    ])
    const { audits } = (await running.json('GET', '/api/audits?verb=edit')) as {
      audits: { eventId: string }[]
    }
    expect(new Set(audits.map(({ eventId }) => eventId))).toEqual(new Set(['e1', made.id]))
  })

  test('the delivery of a conflict can be compared with the first', async () => {
    const { inbox } = bench.inbox()
    await post(inbox, { id: 'e1', amount: 1 })
    await post(inbox, { id: 'e1', amount: 2 })
    await inbox.events.list()
    running = await startAdmin(inbox)
    const conflict = await running.json('GET', `${pathOf('shop', 'e1')}/conflict`)
    expect(Buffer.from(String(conflict.body), 'base64').toString()).toContain('"amount":2')
  })

  test('handlers report what they did, and a pause holds their events until they are resumed', async () => {
    const { inbox } = bench.inbox(noRetry)
    failing(inbox)
    await postAll(inbox, [{ id: 'a' }, { id: 'b', type: 'order.failed' }])
    await inbox.drain()
    running = await startAdmin(inbox)
    type Handlers = {
      handlers: {
        pattern: string
        pause: Record<string, unknown> | null
        since: Record<string, number>
      }[]
    }
    const { handlers } = (await running.json('GET', '/api/handlers')) as unknown as Handlers
    expect(
      handlers.map(({ pattern, since }) => [pattern, since.succeeded, since.failed, since.dead]),
    ).toEqual([
      ['order.failed', 0, 1, 1],
      ['order.paid', 1, 0, 0],
    ])
    const paused = await running.json('POST', '/api/pause', {
      source: 'shop',
      type: 'order.p*',
      note: 'looking',
    })
    const pause = {
      source: 'shop',
      type: 'order.p*',
      actor: 'the-admin',
      note: 'looking',
      at: expect.stringMatching(/Z$/),
    }
    expect(paused).toEqual({ changed: true, pauses: [pause] })
    expect(await running.json('GET', '/api/pauses')).toEqual({ pauses: [pause] })
    const shown = (await running.json('GET', '/api/handlers')) as unknown as Handlers
    expect(shown.handlers.map((handler) => handler.pause)).toEqual([null, pause])
    await post(inbox, { id: 'c' })
    expect(await inbox.drain()).toBe(0)
    expect((await inbox.events.get({ source: 'shop', id: 'c' }))!.state).toBe('pending')
    expect(await running.json('POST', '/api/resume', { source: 'shop' })).toMatchObject({ changed: false })
    expect(await running.json('POST', '/api/resume', { source: 'shop', type: 'order.p*' })).toEqual({
      changed: true,
      pauses: [],
    })
    await inbox.drain()
    expect((await inbox.events.get({ source: 'shop', id: 'c' }))!.state).toBe('succeeded')
  })

  test('workers are listed with the process they belong to', async () => {
    const { inbox } = bench.inbox({ processing: { worker: 'worker-1', poll: 50 } })
    let release = (): void => {}
    const started = new Promise<void>((resolve) => {
      inbox.on('shop', '*', () => {
        resolve()
        return new Promise<void>((end) => {
          release = end
        })
      })
    })
    await inbox.start()
    await post(inbox, { id: 'a' })
    await started
    running = await startAdmin(inbox)
    await running.json('GET', '/api/overview')
    const { workers, processes } = (await running.json('GET', '/api/workers')) as unknown as {
      workers: { worker: string; leases: number; process: { pid: number; alive: boolean } | null }[]
      processes: object[]
    }
    expect(workers).toMatchObject([
      { worker: 'worker-1', leases: 1, process: { pid: process.pid, alive: true } },
    ])
    expect(processes.length).toBe(1)
    release()
  })
})

describe('a source', () => {
  test('has its URL, its rejections with advice, the use of its secrets, and a test event that is verified', async () => {
    const secrets = ['whsec_first_secret_of_the_source', 'whsec_second_secret_of_the_source']
    const inbox = createInbox({
      store: 'sqlite::memory:',
      sources: { stripe: stripe({ secret: secrets }) },
      log: silentLog,
    })
    running = await startAdmin(inbox)
    const sent = await running.json('POST', '/api/sources/stripe/test', { type: 'invoice.paid' })
    expect(sent).toMatchObject({ httpStatus: 200, duplicate: false, type: 'invoice.paid' })
    await inbox.receive('stripe', {
      method: 'POST',
      url: 'http://h/webhooks/stripe',
      headers: { 'stripe-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` },
      body: Buffer.from('{"id":"evt_1","type":"x"}'),
    })
    const response = await running.call('GET', '/api/sources/stripe', { role: 'viewer' })
    const text = await response.text()
    for (const secret of secrets) expect(text).not.toContain(secret.slice(6))
    expect(JSON.parse(text)).toMatchObject({
      url: `${running.url}/webhooks/stripe`,
      passRate: 0.5,
      rejections: [{ reason: 'bad_signature', count: 1, todo: expect.stringContaining('secret') }],
      secrets: [
        { index: 0, label: 'secret 1 of 2', hits: 1 },
        { index: 1, label: 'secret 2 of 2', hits: 0 },
      ],
      commands: { curl: null, send: `npx hookonce send stripe --to ${running.url}` },
    })
    await inbox.stop()
  })
})

test('the example with curl is accepted, wherever the source reads its id', async () => {
  const sources = {
    body: unverified({ id: 'json:meta.key', type: 'json:kind' }),
    header: unverified({ id: 'header:x-id', type: 'const:order' }),
  }
  const inbox = createInbox({ store: 'sqlite::memory:', sources, log: silentLog, processing: false })
  const admin = { authorize: () => ({ actor: 'ann', role: 'viewer' as const }) }
  const server = createServer(inbox, { port: 0, admin })
  const { url } = await server.listen()
  try {
    for (const source of ['body', 'header']) {
      const answer = await fetch(`${url}/api/sources/${source}`)
      const { commands } = (await answer.json()) as { commands: { curl: string } }
      await promisify(execFile)('sh', ['-c', commands.curl])
      expect(await inbox.events.get({ source, id: 'evt_1' })).not.toBeNull()
    }
  } finally {
    await server.close({ deadline: 0 })
  }
})

test('a signed sample as curl is accepted once, and no secret or token leaves the server with it', async () => {
  const secret = 'whsec_secret_of_the_signed_sample'
  const sources = {
    stripe: stripe({ secret }),
    gitlab: gitlab({ secret: 'token-of-the-gitlab-project' }),
    shop: unverified({ id: 'json:id' }),
  }
  const inbox = createInbox({ store: 'sqlite::memory:', sources, log: silentLog, processing: false })
  const admin = { authorize: () => ({ actor: 'ann', role: 'operator' as const }) }
  const server = createServer(inbox, { port: 0, admin })
  const { url } = await server.listen()
  try {
    const sample = async (source: string, body: object) => {
      const answer = await fetch(`${url}/api/sources/${source}/sample`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify(body),
      })
      return ((await answer.json()) as { curl: string | null }).curl
    }
    const signed = await sample('stripe', { type: 'invoice.paid' })
    expect(signed).not.toContain(secret.slice(6))
    await promisify(execFile)('sh', ['-c', signed!])
    await promisify(execFile)('sh', ['-c', signed!])
    const { events } = await inbox.events.list({ source: 'stripe' })
    expect(events).toMatchObject([{ type: 'invoice.paid', deliveries: 2 }])
    expect(await sample('gitlab', {})).toBeNull()
    const { audits } = (await (await fetch(`${url}/api/audits?verb=sign`)).json()) as { audits: object[] }
    expect(audits).toMatchObject([{ actor: 'ann', source: 'stripe', note: 'invoice.paid' }])
  } finally {
    await server.close({ deadline: 0 })
  }
})

describe('the parts', () => {
  test('a pattern keeps the words of an error and replaces what varies', () => {
    expect(patternOf('order ord_1a2b3c failed after 12 ms: "no funds"')).toBe('order * failed after * ms: *')
    expect(patternOf('first line\n  at x.js:1')).toBe('first line*')
    expect(patternOf('')).toBe('')
  })

  test('candidates are few, and the likely ones come first', () => {
    expect(candidatesOf('https://x.example/a/evt%2F1?id=q')[1]).toBe('evt%2F1')
    expect(candidatesOf('https://x.example/a/evt%2F1?id=q')).toContain('evt/1')
    expect(candidatesOf('word '.repeat(2_000)).length).toBeLessThanOrEqual(16)
    expect(candidatesOf('x'.repeat(300))).toEqual([])
  })

  test('a JSON path never reads a prototype', () => {
    expect(valuesAt({ a: [{ b: 1 }, { b: 2 }] }, stepsOf('$.a[*].b'))).toEqual([1, 2])
    expect(valuesAt({ 'a.b': 1 }, stepsOf("['a.b']"))).toEqual([1])
    expect(valuesAt({}, stepsOf('constructor.name'))).toEqual([])
    expect(valuesAt({}, stepsOf('__proto__'))).toEqual([])
  })

  test('a latency is interpolated inside its bucket', () => {
    expect(latencyOf([])).toEqual({ count: 0, p50Ms: null, p95Ms: null, p99Ms: null })
    const parts = new Array(17).fill(0)
    parts[1] = 100 // 0.5 to 1 ms
    expect(latencyOf(parts)).toEqual({ count: 100, p50Ms: 0.75, p95Ms: 0.98, p99Ms: 1 })
  })
})
