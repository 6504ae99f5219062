/** Record may claim: an event that can begin at once is recorded under a lease, and handled without a claim. */
import type { Inbox, Store } from 'hookonce'
import { describe, expect, test } from 'vitest'
import {
  type Bench,
  ids,
  onBothLogs,
  post,
  postAll,
  quickRetry,
  type ShopEvent,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'

const key = (eventId: string) => ({ source: 'shop', id: eventId })
/** Long enough that no poll takes part. */
const processing = { lease: 30_000, poll: 60_000, retry: quickRetry }

const forever = new Promise<never>(() => {})

/** The store notes the ids of claimed events, and tells when a claim has found nothing. */
function watched(store: Store): { store: Store; claimed: string[]; foundNone: () => Promise<void> } {
  const claimed: string[] = []
  let none = signal()
  return {
    claimed,
    foundNone() {
      none = signal()
      return none.wait
    },
    store: {
      ...store,
      async claim(options) {
        const events = await store.claim(options)
        claimed.push(...events.map(({ id }) => id))
        if (events.length === 0) setImmediate(none.give)
        return events
      },
    },
  }
}

/** A started inbox that knows that its log has no due event. */
async function idleInbox(
  bench: Bench,
  add: (inbox: Inbox) => void,
  options: Parameters<Bench['inbox']>[0] = {},
) {
  const { store, claimed, foundNone } = watched((options.store ?? bench.store()) as Store)
  const { inbox, lines } = bench.inbox({ processing, ...options, store })
  add(inbox)
  const isIdle = foundNone()
  await inbox.start()
  await isIdle
  return { inbox, lines, claimed }
}

const bytesAsText = (_: string, value: unknown) =>
  value instanceof Uint8Array || (value as { type?: unknown })?.type === 'Buffer' ? 'bytes' : value

const attemptsOf = async (inbox: Inbox, id: string) =>
  (await inbox.events.attempts(key(id))).map(({ outcome }) => outcome)

onBothLogs((bench) => {
  test('an event is handled without a claim, with what a claim would return', async () => {
    const seen: unknown[] = []
    // PostgreSQL and SQLite return different kinds of bytes.
    const handle = (event: object) => void seen.push(JSON.parse(JSON.stringify(event, bytesAsText)))
    const sources = { shop: shop(), other: shop() }
    const { inbox, claimed } = await idleInbox(bench, (one) => one.on('shop', '*', handle), { sources })
    const event: ShopEvent = { id: 'a', type: 'order.paid', ref: 'r1', text: 'é' }
    const body = Buffer.from(JSON.stringify(event))
    await inbox.receive('shop', { method: 'POST', url: '/', headers: { 'x-request-id': '7' }, body })
    body.fill(0) // the memory of the sender
    await until(async () => (await stateOf(inbox, 'a')) === 'succeeded', 'it is handled')
    expect(claimed).toEqual([])
    expect(await attemptsOf(inbox, 'a')).toEqual(['succeeded'])
    expect((await inbox.replay(key('a'), { force: true, actor: 'test' })).done).toBe(true)
    await until(() => seen.length === 2, 'it is handled again, after a claim')
    expect(claimed).toEqual(['a'])
    expect(seen[0]).toEqual(seen[1])
  })

  test('with encryption the handler gets the payload in clear, and the log has it sealed', async () => {
    const encryption = { current: 'one', keys: { one: '0'.repeat(64) } }
    const seen: unknown[] = []
    const { inbox, claimed } = await idleInbox(
      bench,
      (one) => one.on('shop', '*', (event) => void seen.push(event.payload)),
      { encryption },
    )
    await post(inbox, { id: 'a', secret: 'sesame' })
    await until(() => seen.length === 1, 'it is handled')
    expect(seen).toEqual([{ type: 'order.paid', id: 'a', secret: 'sesame' }])
    expect(claimed).toEqual([])
    const [row] = await bench.rows('select headers from log.payloads')
    expect(row!.headers).toContain(':encrypted')
  })

  test('events are handled in the order they came, also when some of them wait for a place', async () => {
    const order: string[] = []
    const first = signal()
    const { inbox, claimed } = await idleInbox(
      bench,
      (one) =>
        one.on('shop', '*', async ({ id }) => {
          order.push(id)
          if (id === 'e0') await first.wait
        }),
      { processing: { ...processing, concurrency: 1 } },
    )
    for (const id of ids(5)) await post(inbox, { id })
    first.give()
    await post(inbox, { id: 'e5' })
    await until(() => order.length === 6, 'all are handled')
    expect(order).toEqual(ids(6))
    expect(claimed).not.toContain('e0')
    await until(async () => (await stateOf(inbox, 'e5')) === 'succeeded', 'the log is empty again')
  })

  test('an event waits in the log while its handler is at its limit or paused, or its source is paused', async () => {
    const busy = signal()
    const handled: string[] = []
    const { inbox } = await idleInbox(
      bench,
      (one) => {
        one.on('shop', 'limited', () => busy.wait, { limit: { concurrency: 1 } })
        one.on('shop', 'paused', ({ id }) => void handled.push(id))
        one.on('other', '*', ({ id }) => void handled.push(id))
      },
      { sources: { shop: shop(), other: shop() } },
    )
    await post(inbox, { id: 'l1', type: 'limited' })
    await inbox.pause('shop', 'paused')
    await inbox.pause('other')
    await post(inbox, { id: 'p1', type: 'paused' })
    await post(inbox, { id: 'o1' }, 'other')
    await post(inbox, { id: 'l2', type: 'limited' })
    // A claim that finds an event of a paused handler releases it, and its attempt does not count.
    await until(async () => {
      const event = await inbox.events.get(key('p1'))
      return event?.state === 'pending' && event.attempts === 0
    }, 'the paused handler leaves it')
    expect(await stateOf(inbox, 'o1', 'other')).toBe('pending')
    expect(handled).toEqual([])
    await inbox.resume('shop', 'paused')
    await inbox.resume('other')
    busy.give()
    await until(() => handled.length === 2, 'they are handled')
    await until(async () => (await stateOf(inbox, 'l2')) === 'succeeded', 'the second one, too')
  })

  test('an event that is recorded during the stop is released, and has used up no attempt', async () => {
    const [recorded, stopping] = [signal(), signal()]
    const real = bench.store()
    const store: Store = {
      ...real,
      async record(...given) {
        const verdicts = await real.record(...given)
        recorded.give()
        await stopping.wait
        return verdicts
      },
    }
    let handled = 0
    const { inbox } = await idleInbox(bench, (one) => one.on('shop', '*', () => void handled++), { store })
    const answer = post(inbox, { id: 'a' })
    await recorded.wait
    expect(await real.get(key('a'))).toMatchObject({ state: 'processing', attempts: 1 })
    const stopped = inbox.stop()
    stopping.give()
    expect((await answer).status).toBe('accepted')
    await stopped
    expect(handled).toBe(0)
    const reader = bench.store()
    expect(await reader.get(key('a'))).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('when the process dies after the commit, another one handles the event once the lease has ended', async () => {
    const real = bench.store()
    const committed = signal()
    let isDead = false
    const store: Store = {
      ...real,
      async record(...given) {
        await real.record(...given)
        isDead = true
        committed.give()
        return forever
      },
      extend: () => forever,
      claim: (options) => (isDead ? forever : real.claim(options)),
    }
    const quick = { ...processing, lease: 300, poll: 30 }
    const dead = await idleInbox(
      bench,
      (one) => one.on('shop', '*', () => expect.unreachable('it is dead')),
      { store, processing: quick, limits: { recordTimeout: 200 } },
    )
    void post(dead.inbox, { id: 'a' })
    await committed.wait
    const { inbox } = bench.inbox({ processing: { ...quick, lease: 30_000 } })
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
    await inbox.start()
    await until(async () => (await stateOf(inbox, 'a')) === 'succeeded', 'the other process handles it')
    expect(await bench.log.effects()).toEqual(['a'])
    expect(await attemptsOf(inbox, 'a')).toEqual(['lost', 'succeeded'])
  })

  test('beside an event that may kill the process, no event is leased', async () => {
    const store = bench.store()
    const [running, end] = [signal(), signal()]
    const { inbox: early } = bench.inbox({ processing: false })
    await post(early, { id: 'killer' })
    for (const attempt of [1, 2])
      await until(async () => {
        const [claimed] = await store.claim({ worker: 'dead', limit: 1, leaseMs: 1, event: key('killer') })
        return claimed?.attempt === attempt
      }, 'its workers die')
    const { inbox } = bench.inbox({ processing })
    inbox.on('shop', '*', async ({ id }) => {
      if (id !== 'killer') return
      running.give()
      await end.wait
    })
    await inbox.start()
    await running.wait
    await post(inbox, { id: 'a' })
    expect(await store.get(key('a'))).toMatchObject({ state: 'pending', attempts: 0 })
    end.give()
    await until(async () => (await stateOf(inbox, 'a')) === 'succeeded', 'it is handled later')
  })

  describe('in inline mode', () => {
    const sources = { shop: shop({ mode: 'inline' }) }

    test('the request runs the event that it has recorded, and no worker takes it', async () => {
      const { inbox, claimed } = await idleInbox(
        bench,
        (one) => one.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id)),
        { sources, processing: { ...processing, poll: 1 } },
      )
      const other = await idleInbox(bench, (one) => one.on('shop', '*', () => {}), {
        sources,
        processing: { ...processing, poll: 1 },
      })
      for (const id of ids(10)) expect((await post(inbox, { id })).status).toBe('processed')
      expect([...claimed, ...other.claimed]).toEqual([])
      expect(await bench.log.effects()).toEqual(ids(10))
      expect(await attemptsOf(inbox, 'e9')).toEqual(['succeeded'])
    })

    test('a second delivery waits for the request that runs the event, and does not poll the log', async () => {
      const real = bench.store()
      const [running, end, second] = [signal(), signal(), signal()]
      let reads = 0
      const store: Store = {
        ...real,
        get: (asked) => {
          reads++
          return real.get(asked)
        },
        async record(...given) {
          const verdicts = await real.record(...given)
          if (verdicts[0]![0]!.status === 'duplicate') second.give()
          return verdicts
        },
      }
      const { inbox } = bench.inbox({ store, sources, processing })
      inbox.on('shop', '*', () => {
        running.give()
        return end.wait
      })
      const first = post(inbox, { id: 'a' })
      await running.wait
      const repeated = post(inbox, { id: 'a' })
      await second.wait
      await new Promise((resolve) => setTimeout(resolve, 200)) // several polls
      expect(reads).toBe(0)
      end.give()
      expect((await first).status).toBe('processed')
      expect(await repeated).toMatchObject({ status: 'already_processed', duplicate: true })
      expect(reads).toBeLessThanOrEqual(2) // its state and its reason
    })

    test('an event whose request ran out of time during the commit is released, and has used up no attempt', async () => {
      const real = bench.store()
      const [recorded, late] = [signal(), signal()]
      const store: Store = {
        ...real,
        async record(...given) {
          const verdicts = await real.record(...given)
          recorded.give()
          await late.wait
          return verdicts
        },
      }
      let handled = 0
      const { inbox } = bench.inbox({ store, sources, processing, limits: { recordTimeout: 100 } })
      inbox.on('shop', '*', () => void handled++)
      await inbox.events.stats() // opens the store
      expect((await post(inbox, { id: 'a' })).status).toBe('unavailable')
      await recorded.wait
      expect(await real.get(key('a'))).toMatchObject({ state: 'processing', attempts: 1 })
      late.give()
      await until(async () => (await stateOf(inbox, 'a')) === 'pending', 'it is released')
      expect(await real.get(key('a'))).toMatchObject({ attempts: 0 })
      expect(handled).toBe(0)
      // A record may take longer than the limit on a busy machine.
      await until(async () => (await post(inbox, { id: 'a' })).status === 'processed', 'it is handled')
    })
  })

  test('under load every event is handled once, with and without a claim', async () => {
    const { inbox, claimed } = await idleInbox(
      bench,
      (one) => {
        one.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
        one.on('shop', 'ordered', (event, ctx) => bench.write(ctx.tx, event.id), { order: 'reference' })
      },
      { processing: { ...processing, concurrency: 4 } },
    )
    const all = ids(60)
    for (let i = 0; i < all.length; i += 6)
      await postAll(
        inbox,
        all.slice(i, i + 6).map((id, n) => ({ id, ref: 'lane', type: n % 2 ? 'ordered' : 'plain' })),
      )
    for (const id of ids(10, 'single ')) {
      await post(inbox, { id })
      await until(async () => (await stateOf(inbox, id)) === 'succeeded', `${id} is handled`)
      all.push(id)
    }
    await until(async () => (await inbox.events.stats())[0]!.succeeded === all.length, 'all have succeeded')
    expect((await bench.log.effects()).sort()).toEqual([...all].sort())
    expect(claimed.length).toBeLessThan(all.length)
    expect(new Set(claimed).size).toBe(claimed.length)
  })
})
