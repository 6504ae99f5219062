/** Named consumers: each handles every event for itself, whatever happens to the others. */
import type { Inbox, InboxOptions } from 'hookonce'
import { expect, test } from 'vitest'
import {
  ids,
  onBothLogs,
  post,
  postAll,
  quickRetry,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'

const processing = { lease: 30_000, poll: 50, retry: { ...quickRetry, maxAttempts: 3 } }

const statesOf = async (inbox: Inbox, id: string, ...consumers: readonly string[]) =>
  Promise.all(
    ['shop', ...consumers.map((name) => `shop/${name}`)].map((source) => stateOf(inbox, id, source)),
  )

onBothLogs((bench) => {
  const open = (options: Partial<InboxOptions> = {}) => bench.inbox({ processing, ...options })

  test('each consumer handles each event once, with a state, attempts and effects of its own', async () => {
    const { inbox } = open()
    const calls: string[] = []
    const keys = new Set<string>()
    const called =
      (name: string) =>
      async (
        event: { id: string; source: string },
        ctx: {
          attempt: number
          idempotencyKey(n: string): string
          once(n: string, f: () => string): Promise<string>
        },
      ) => {
        keys.add(ctx.idempotencyKey('mail'))
        await ctx.once('effect', () => name)
        calls.push(`${name} ${event.source} ${event.id} ${ctx.attempt}`)
        if (name === 'crm') throw new Error('never')
      }
    inbox.on('shop', '*', called('main'))
    inbox.on('shop', '*', called('mail'), { consumer: 'mail' })
    inbox.on('shop', '*', called('crm'), { consumer: 'crm' })
    await post(inbox, { id: 'a' })
    expect(await inbox.drain()).toBeGreaterThanOrEqual(3)
    // A drain ends when nothing is due, and a retry is due a moment later.
    await until(async () => {
      await inbox.drain()
      return (await inbox.events.stats()).some(({ dead }) => dead === 1)
    }, 'the retries are over')
    expect(calls.sort()).toEqual([
      'crm shop a 1',
      'crm shop a 2',
      'crm shop a 3',
      'mail shop a 1',
      'main shop a 1',
    ])
    expect(keys.size).toBe(3)
    expect(await statesOf(inbox, 'a', 'mail', 'crm')).toEqual(['succeeded', 'succeeded', 'failed'])
    expect(await post(inbox, { id: 'a' })).toMatchObject({ status: 'already_processed' })
    expect((await inbox.replay({ source: 'shop/mail', id: 'a' }, { force: true })).done).toBe(true)
    calls.length = 0
    await inbox.drain()
    expect(calls).toEqual(['mail shop a 1'])
    const rows = await bench.rows(
      'select source, processing_state as state from log.event_log order by source',
    )
    expect(rows.map(({ source, state }) => `${source} ${state}`)).toEqual([
      'shop succeeded',
      'shop/crm failed',
      'shop/mail succeeded',
    ])
  })

  test('one consumer that hangs and one that always fails do not hold up the others', async () => {
    const { inbox } = open({
      processing: { ...processing, concurrency: 4, retry: { firstDelay: 60_000, maxDelay: 60_000 } },
    })
    const hung = signal()
    const done = { main: new Set<string>(), mail: new Set<string>() }
    inbox.on('shop', '*', ({ id }) => void done.main.add(id))
    inbox.on('shop', '*', ({ id }) => void done.mail.add(id), { consumer: 'mail' })
    inbox.on('shop', '*', () => hung.wait, { consumer: 'hangs' })
    inbox.on('shop', '*', () => Promise.reject(new Error('always')), { consumer: 'fails' })
    await inbox.start()
    await postAll(
      inbox,
      ids(60).map((id) => ({ id })),
    )
    await until(() => done.main.size === 60 && done.mail.size === 60, 'the others have handled all events')
    await until(
      async () => (await stateOf(inbox, 'e0', 'shop/hangs')) === 'processing',
      'the slow one has begun',
    )
    hung.give()
    await until(
      async () => (await stateOf(inbox, 'e59', 'shop/hangs')) === 'succeeded',
      'the slow one goes on',
    )
  })

  test('a consumer in another process gets every event, and neither process takes those of the other', async () => {
    const { inbox: first } = open()
    const { inbox: second } = open()
    const main: string[] = []
    const mail: string[] = []
    first.on('shop', '*', ({ id }) => void main.push(id))
    second.on('shop', 'order.*', ({ id }) => void mail.push(id), { consumer: 'mail' })
    await first.start()
    await second.start()
    await postAll(
      first,
      ids(10).map((id) => ({ id, type: Number(id.slice(1)) % 2 ? 'order.paid' : 'other' })),
    )
    await until(() => main.length === 10 && mail.length === 5, 'both have theirs')
    expect(mail.sort()).toEqual(['e1', 'e3', 'e5', 'e7', 'e9'])
    await first.stop()
    await post(second, { id: 'later' })
    await until(() => mail.includes('later'), 'the consumer goes on alone')
    // The main consumer is away, and not gone.
    expect(await stateOf(second, 'later')).toBe('pending')
    expect(await stateOf(second, 'e0', 'shop/mail')).toBe(undefined)
  })

  test('a source with named consumers only has nothing left to do, and shows what nobody wants', async () => {
    const { inbox } = open()
    inbox.on('shop', 'order.*', () => {}, { consumer: 'mail' })
    await inbox.start()
    await postAll(inbox, [{ id: 'a' }, { id: 'b', type: 'unknown' }])
    await until(async () => (await stateOf(inbox, 'b')) === 'ignored', 'the source is done')
    await until(async () => (await stateOf(inbox, 'a')) === 'ignored', 'the source is done')
    expect((await inbox.events.get({ source: 'shop', id: 'a' }))!.reason).toBe('other_consumers')
    expect((await inbox.events.get({ source: 'shop', id: 'b' }))!.reason).toBe('unhandled')
    await until(async () => (await stateOf(inbox, 'a', 'shop/mail')) === 'succeeded', 'and the consumer')
  })

  test('a consumer that is added later starts where `from` says, and a removed one leaves its open events and no growth', async () => {
    const { inbox: before } = open()
    before.on('shop', '*', () => {})
    before.on('shop', '*', () => Promise.reject(new Error('no')), { consumer: 'gone' })
    await postAll(before, [{ id: 'a' }, { id: 'b' }])
    await before.drain()
    await before.stop()
    const { inbox, lines } = open()
    const got: Record<string, string[]> = { now: [], all: [], day: [] }
    inbox.on('shop', '*', () => {})
    inbox.on('shop', '*', ({ id }) => void got.now!.push(id), { consumer: 'now' })
    inbox.on('shop', '*', ({ id }) => void got.all!.push(id), { consumer: 'all', from: 'start' })
    inbox.on('shop', '*', ({ id }) => void got.day!.push(id), { consumer: 'day', from: '1d' })
    await post(inbox, { id: 'c' })
    await inbox.drain()
    for (const own of Object.values(got)) own.sort()
    expect(got).toEqual({ now: ['c'], all: ['a', 'b', 'c'], day: ['a', 'b', 'c'] })
    const gone = (await inbox.events.stats()).find(({ source }) => source === 'shop/gone')
    expect(gone).toMatchObject({ recorded: 2 })
    expect((await inbox.events.list({ source: 'shop/gone' })).events.map(({ state }) => state)).toEqual([
      'failed',
      'failed',
    ])
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('without a named consumer the follower asks the log for nothing', async () => {
    const store = bench.store()
    const calls: string[] = []
    const counted = <T extends object>(of: T): T =>
      new Proxy(of, {
        get(target, name) {
          const member = Reflect.get(target, name)
          if (typeof member === 'object' && member !== null) return counted(member)
          if (['tail', 'open', 'copy'].includes(String(name))) calls.push(String(name))
          return member
        },
      })
    const { inbox } = open({ store: counted(store) })
    inbox.on('shop', '*', () => {})
    await inbox.start()
    await postAll(
      inbox,
      ids(20).map((id) => ({ id })),
    )
    await until(async () => (await inbox.events.stats())[0]!.succeeded === 20, 'all are handled')
    expect(await inbox.drain()).toBe(0)
    expect(calls).toEqual(['open'])
  })

  test('one event of a consumer can be processed at once, before the follower has come to it', async () => {
    const { inbox } = open()
    const got: string[] = []
    inbox.on('shop', '*', ({ id }) => void got.push(id), { consumer: 'mail' })
    await post(inbox, { id: 'a' })
    expect(await inbox.process('shop/mail', 'a')).toEqual({ kind: 'succeeded' })
    expect(await inbox.process('shop/mail', 'a')).toBe(null)
    expect(got).toEqual(['a'])
  })

  test('during a deploy that adds a type, the older process leaves none of its events out', async () => {
    const { inbox: older } = open()
    const { inbox: newer } = open()
    const got = new Set<string>()
    older.on('shop', 'order.paid', ({ id }) => void got.add(id), { consumer: 'mail' })
    await older.start()
    await post(older, { id: 'before', type: 'order.sent' })
    await post(older, { id: 'first' })
    await until(() => got.has('first'), 'the older process works')
    newer.on('shop', 'order.*', ({ id }) => void got.add(id), { consumer: 'mail' })
    await newer.start()
    // The older one moves on with each event of its own type.
    for (const i of ids(15)) {
      await post(older, { id: `${i} sent`, type: 'order.sent' })
      await post(older, { id: `${i} paid` })
    }
    await until(() => got.size === 31, 'every event of both types is handled')
    expect(await stateOf(older, 'before', 'shop/mail')).toBe(undefined)
  })

  test('consumers are added and removed under load, and each gets every event from its start on, once', async () => {
    const { inbox: main } = open()
    const count = new Map<string, number>()
    const counted =
      (name: string) =>
      ({ id }: { id: string }) =>
        void count.set(`${name} ${id}`, (count.get(`${name} ${id}`) ?? 0) + 1)
    main.on('shop', '*', counted('main'))
    main.on('shop', '*', counted('mail'), { consumer: 'mail' })
    await main.start()
    let sent = 0
    const load = async (events: number) => {
      for (let i = 0; i < events; i++) await postAll(main, [{ id: `l${sent++}` }, { id: `l${sent++}` }])
    }
    await load(15)
    const { inbox: added } = open()
    added.on('shop', '*', counted('crm'), { consumer: 'crm', from: 'start' })
    added.on('shop', '*', counted('mail'), { consumer: 'mail' })
    await Promise.all([load(30), added.start()])
    await added.stop()
    await load(15)
    const { inbox: again } = open()
    again.on('shop', '*', counted('crm'), { consumer: 'crm' })
    await again.start()
    const all = ids(sent, 'l')
    await until(
      () => ['main', 'mail', 'crm'].every((name) => all.every((id) => count.has(`${name} ${id}`))),
      'every consumer has every event',
    )
    expect([...count.values()].filter((times) => times !== 1)).toEqual([])
  })

  test('a consumer keeps the order of a reference, and a withheld or imported event is not given to it', async () => {
    const { inbox } = open()
    const order: string[] = []
    inbox.on('shop', '*', () => {})
    inbox.on(
      'shop',
      '*',
      async ({ id, reference }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
        order.push(`${reference} ${id}`)
      },
      { consumer: 'mail', order: 'reference' },
    )
    const store = bench.store()
    await inbox.start()
    await store.imports.add([
      {
        source: 'shop',
        id: 'imported',
        type: 'order.paid',
        reference: null,
        receivedAt: Date.now(),
        processedAt: null,
        state: 'succeeded',
        reason: null,
        payload: { headers: {}, body: Buffer.from('{}') },
      },
    ])
    for (const id of ids(12)) await post(inbox, { id, ref: `r${Number(id.slice(1)) % 3}` })
    await until(() => order.length === 12, 'all are handled')
    for (const r of ['r0', 'r1', 'r2']) {
      const own = order.filter((one) => one.startsWith(r))
      expect(own).toEqual([...own].sort((a, b) => Number(a.slice(4)) - Number(b.slice(4))))
    }
    expect(await stateOf(inbox, 'imported', 'shop/mail')).toBe(undefined)
  })

  test('the payload of an encrypted event can be read by its consumers, and retention waits for the last of them', async () => {
    const { inbox } = open({
      encryption: { current: 'k', keys: { k: Buffer.alloc(32, 1).toString('base64') } },
      retention: { payloads: 0 },
    })
    const seen: unknown[] = []
    let fails = true
    inbox.on('shop', '*', () => {})
    inbox.on(
      'shop',
      '*',
      ({ payload }) => {
        if (fails) throw new Error('not yet')
        seen.push(payload)
      },
      { consumer: 'mail', retry: { maxAttempts: 1 } },
    )
    await post(inbox, { id: 'a', secret: 1 })
    await inbox.drain()
    await inbox.retain()
    const key = { source: 'shop/mail', id: 'a' }
    expect(await inbox.events.payload(key)).not.toBeNull()
    fails = false
    expect((await inbox.retry(key)).done).toBe(true)
    await inbox.drain()
    expect(seen).toEqual([{ id: 'a', type: 'order.paid', secret: 1 }])
    const { sources } = await inbox.retain()
    expect(Object.keys(sources)).toEqual(['shop', 'shop/mail'])
    if (bench.kind === 'SQLite') expect(await inbox.events.payload({ source: 'shop', id: 'a' })).toBeNull()
  })

  test('a consumer can be paused alone, and its source cannot be reached over HTTP', async () => {
    const { inbox } = open()
    const got: string[] = []
    inbox.on('shop', '*', ({ id }) => void got.push(`main ${id}`))
    inbox.on('shop', '*', ({ id }) => void got.push(`mail ${id}`), { consumer: 'mail' })
    await inbox.pause('shop/mail')
    await inbox.start()
    await post(inbox, { id: 'a' })
    await until(async () => (await stateOf(inbox, 'a', 'shop/mail')) === 'pending', 'the event waits')
    await until(() => got.includes('main a'), 'the main consumer goes on')
    expect(got).toEqual(['main a'])
    await inbox.resume('shop/mail')
    await until(() => got.includes('mail a'), 'it goes on')
    for (const path of ['shop/mail', 'shop%2Fmail']) {
      const answer = await inbox.fetch(
        new Request(`http://localhost/webhooks/${path}`, { method: 'POST', body: '{"id":"x","type":"t"}' }),
      )
      expect(answer.status).toBe(404)
    }
    expect(
      (
        await inbox.receive('shop/mail', {
          method: 'POST',
          url: 'http://localhost/',
          headers: {},
          body: Buffer.from('{}'),
        })
      ).httpStatus,
    ).toBe(404)
  })
})

test('bad consumers are refused when they are registered', async () => {
  const { createInbox } = await import('hookonce')
  const inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: shop() } })
  const handler = () => {}
  const register =
    (options: object, source = 'shop', type = '*') =>
    () =>
      inbox.on(source as 'shop', type, handler, options)
  expect(register({ consumer: 'a/b' })).toThrow(/consumer name "a\/b".*must be 1 to 64 letters/)
  expect(register({ from: 'start' })).toThrow(/`from`.*add the option `consumer`/)
  expect(register({ consumer: 'mail', from: 'yesterday' })).toThrow(/from/)
  inbox.on('shop', 'a', handler, { consumer: 'mail', from: 'start' })
  expect(register({ consumer: 'mail', from: '7d' }, 'shop', 'b')).toThrow(
    /"shop\/mail".*starts from "start" and from "7d"/,
  )
  expect(register({ consumer: 'mail' }, 'shop', 'a')).toThrow(/already registered/)
  expect(register({ consumer: 'x' }, 'shop/mail')).toThrow(/cannot follow the consumer "shop\/mail"/)
  expect(register({ consumer: 'x' }, 'none')).toThrow(/no source "none"/)
  await inbox.stop()
})
