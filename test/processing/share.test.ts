/** The option `share`: ordinary handlers in one transaction behave as if each had its own, on both stores. */
import { type Inbox, permanent, postpone, type Store } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { afterEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import {
  type Bench,
  ids,
  onBothLogs,
  onLog,
  postAll,
  quickRetry,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'
import { startProxy } from '../support/proxy.js'
import { OVERTIME_MS, shortened } from '../support/timers.js'

const key = (eventId: string) => ({ source: 'shop', id: eventId })
const statsOf = async (inbox: Inbox) => (await inbox.events.stats())[0]!
/** One place: all events that are due share a transaction. */
const processing = { concurrency: 1, lease: 20_000, poll: 50, retry: quickRetry }

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
})

/** A store that counts transactions, and notes the events of each group that commits. */
function counting(bench: Bench): { store: Store; begun: () => number; finished: number[][] } {
  const store = bench.store()
  let begun = 0
  const finished: number[][] = []
  return {
    begun: () => begun,
    finished,
    store: {
      ...store,
      async transaction(options) {
        begun++
        const transaction = await store.transaction(options)
        return {
          ...transaction,
          finish(settlements) {
            finished.push(settlements.map(({ lease }) => lease.seq))
            return transaction.finish(settlements)
          },
        }
      },
    },
  }
}

/** As after a pause of the process that was longer than the lease. */
function expireLease(bench: Bench, eventId: string): Promise<void> {
  const past = bench.kind === 'SQLite' ? '1' : `now() - interval '1 second'`
  return bench.log.sql(
    `update log.work set next_at = ${past} where seq = (select seq from log.events where event_id = '${eventId}')`,
  )
}

const some = (count: number, more: object = {}) => ids(count).map((id) => ({ id, ...more }))

onBothLogs((bench) => {
  shortened(OVERTIME_MS)

  test('a group that runs leaves the buffer to the next groups', async () => {
    const { inbox } = bench.inbox({ processing: processing })
    const going = signal()
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await going.wait
        await bench.write(ctx.tx, event.id)
      },
      { share: 10 },
    )
    const all = some(31)
    await postAll(inbox, all.slice(0, 15))
    await inbox.start()
    await until(async () => (await statsOf(inbox)).processing === 15, 'one group runs, and five events wait')
    await postAll(inbox, all.slice(15))
    await until(async () => (await statsOf(inbox)).processing >= 30, 'two groups wait')
    going.give()
    await until(async () => (await statsOf(inbox)).succeeded === 31, 'all have run')
    expect((await bench.log.effects()).sort()).toEqual(ids(31).sort())
  })

  test('events run one after the other in one transaction, also one that does not use ctx.tx', async () => {
    const { store, begun, finished } = counting(bench)
    const { inbox } = bench.inbox({ store, processing })
    let running = 0
    const seen: string[] = []
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        expect(++running).toBe(1)
        seen.push(`${event.id} ${ctx.attempt}`)
        if (event.id !== 'e2') await bench.write(ctx.tx, event.id)
        if (event.id === 'e3') ctx.ignore('a test order')
        running--
      },
      { share: 8 },
    )
    await postAll(inbox, some(12))
    await inbox.drain()
    expect(seen).toHaveLength(12)
    // On a busy machine a shared transaction may end early.
    expect(finished.flat()).toHaveLength(12)
    expect(begun()).toBe(finished.length)
    const sizes = finished.map((group) => group.length)
    expect(Math.max(...sizes)).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8)
    expect(await bench.log.effects()).toHaveLength(11)
    expect(new Set(await bench.log.effects()).size).toBe(11)
    expect(await inbox.events.get(key('e3'))).toMatchObject({ state: 'ignored', reason: 'a test order' })
    expect(await statsOf(inbox)).toMatchObject({ succeeded: 11, ignored: 1 })
  })

  test('events do not share while there are free places for them', async () => {
    const { store, finished } = counting(bench)
    const { inbox } = bench.inbox({ store, processing: { ...processing, concurrency: 4 } })
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id), { share: 50 })
    await postAll(inbox, some(4))
    await inbox.drain()
    expect(finished.map((group) => group.length)).toEqual([1, 1, 1, 1])
  })

  test('a failing event fails alone: nothing of the group stays, and each of the others has its effect once', async () => {
    const { inbox } = bench.inbox({ processing })
    const seen: string[] = []
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        seen.push(event.id)
        await bench.write(ctx.tx, event.id)
        if (event.id === 'e3') throw permanent('bad')
        if (event.id === 'e6') throw postpone(3_600_000)
      },
      { share: 10 },
    )
    await postAll(inbox, some(10))
    await inbox.drain()
    const good = ids(10).filter((id) => id !== 'e3' && id !== 'e6')
    expect((await bench.log.effects()).sort()).toEqual(good)
    for (const id of good) {
      expect(await inbox.events.get(key(id))).toMatchObject({ state: 'succeeded', attempts: 1 })
      expect(await inbox.events.attempts(key(id))).toHaveLength(1)
    }
    expect(await inbox.events.get(key('e3'))).toMatchObject({ state: 'failed', reason: 'bad', attempts: 1 })
    expect(await inbox.events.get(key('e6'))).toMatchObject({ state: 'pending', attempts: 0 })
    // Events behind the failing one had not begun, so they ran once.
    expect(seen.filter((id) => id === 'e9')).toHaveLength(1)
  })

  test('an event that is tried again runs alone', async () => {
    const { store, finished } = counting(bench)
    const { inbox } = bench.inbox({ store, processing })
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        if (event.id === 'e1' && ctx.attempt < 3) throw new Error('not yet')
      },
      { share: 5, retry: { firstDelay: 1, maxDelay: 1, maxAttempts: 5 } },
    )
    await postAll(inbox, some(5))
    await inbox.start()
    await until(async () => (await statsOf(inbox)).succeeded === 5, 'all succeed')
    expect((await bench.log.effects()).sort()).toEqual(ids(5))
    const { seq } = (await inbox.events.get(key('e1')))!
    expect(finished.filter((group) => group.includes(seq))).toEqual([[seq]])
    expect((await inbox.events.attempts(key('e1'))).map((one) => one.outcome)).toEqual([
      'failed',
      'failed',
      'succeeded',
    ])
  })

  test('a handler that times out fails alone, and the handlers before it keep their effects', async () => {
    const { inbox } = bench.inbox({ processing })
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        if (event.id === 'e2') await new Promise(() => {})
      },
      { share: 4, timeout: 3_000, retry: { maxAttempts: 1 } },
    )
    await postAll(inbox, some(4))
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(['e0', 'e1', 'e3'])
    expect(await inbox.events.get(key('e2'))).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('the handler took longer than 3000 ms'),
    })
  })

  test('the time limit is that of one event, not of the group', async () => {
    const { inbox } = bench.inbox({ processing })
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await new Promise((resolve) => setTimeout(resolve, 500))
        await bench.write(ctx.tx, event.id)
      },
      { share: 100, timeout: 5_000, retry: { maxAttempts: 1 } },
    )
    await postAll(inbox, some(12))
    await inbox.drain()
    expect(await statsOf(inbox)).toMatchObject({ succeeded: 12 })
    expect((await bench.log.effects()).sort()).toEqual(ids(12).sort())
  })

  test('a shared transaction of slow handlers commits early, and the other events follow', async () => {
    const { store, finished } = counting(bench)
    const { inbox } = bench.inbox({ store, processing })
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        await new Promise((resolve) => setTimeout(resolve, 150))
      },
      { share: 8 },
    )
    await postAll(inbox, some(8))
    await inbox.drain()
    expect(finished.flat()).toHaveLength(8)
    expect(Math.max(...finished.map((group) => group.length))).toBeLessThanOrEqual(2)
    expect((await bench.log.effects()).sort()).toEqual(ids(8))
  })

  test('stop releases the events of a group that have not begun', async () => {
    const { inbox } = bench.inbox({ processing })
    const begun = signal()
    const goOn = signal()
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await ctx.once('outside', () => 1) // before the transaction: also allowed on a store with one writer
        if (event.id === 'e0') {
          begun.give()
          await goOn.wait
        }
        await bench.write(ctx.tx, event.id)
      },
      { share: 10 },
    )
    await postAll(inbox, some(10))
    await inbox.start()
    await begun.wait
    const stopped = inbox.stop()
    // Longer than a shared transaction takes further events.
    setTimeout(goOn.give, 400)
    await stopped
    const other = bench.inbox().inbox
    const stats = await statsOf(other)
    expect(stats.processing).toBe(0)
    expect(stats.succeeded + stats.pending).toBe(10)
    expect(stats.succeeded).toBeLessThan(10)
    for (const { id, state, attempts } of (await other.events.list({})).events)
      expect([id, attempts]).toEqual([id, state === 'pending' ? 0 : 1])
  })

  test('ctx.once runs once although a neighbour fails, before and after ctx.tx', async () => {
    const { inbox } = bench.inbox({ processing })
    const calls: string[] = []
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        const first = await ctx.once('first', () => calls.push(`${event.id} first`) && event.id)
        expect(first).toBe(event.id)
        await bench.write(ctx.tx, event.id)
        if (event.id !== 'e5') await ctx.once('second', () => calls.push(`${event.id} second`) && null)
        else throw permanent('bad')
      },
      { share: 8 },
    )
    await postAll(inbox, some(8))
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(ids(8).filter((id) => id !== 'e5'))
    expect(calls.length).toBe(new Set(calls).size)
    expect(calls).toHaveLength(15)
  })

  test('an idempotency key is that of the event, in the group and alone', async () => {
    const { inbox } = bench.inbox({ processing })
    const keys = new Map<string, Set<string>>()
    let failed = false
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        const own = keys.get(event.id) ?? new Set()
        keys.set(event.id, own.add(ctx.idempotencyKey('charge')))
        await bench.write(ctx.tx, event.id)
        if (event.id === 'e3' && !failed) {
          failed = true
          throw new Error('once')
        }
      },
      { share: 4 },
    )
    await postAll(inbox, some(4))
    await inbox.drain()
    expect([...keys.values()].every((own) => own.size === 1)).toBe(true)
    expect(new Set([...keys.values()].flatMap((own) => [...own])).size).toBe(4)
    // The failure of the group is not a failure of the event: alone it succeeds in the same attempt.
    expect(await statsOf(inbox)).toMatchObject({ succeeded: 4 })
    expect((await bench.log.effects()).sort()).toEqual(ids(4))
  })

  test('an older event is stale, whether it is handled before or in the same group', async () => {
    const { inbox } = bench.inbox({ processing })
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id), {
      share: 10,
      stale: (event) => (event.payload as { version: number }).version,
    })
    for (const [id, version, ref] of [
      ['a2', 2, 'a'],
      ['a1', 1, 'a'],
      ['b1', 1, 'b'],
      ['a3', 3, 'a'],
    ] as const)
      await postAll(inbox, [{ id, version, ref }])
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(['a2', 'a3', 'b1'])
    expect(await inbox.events.get(key('a1'))).toMatchObject({ state: 'ignored', reason: 'stale' })
    await postAll(inbox, [
      { id: 'a0', version: 0, ref: 'a' },
      { id: 'b2', version: 2, ref: 'b' },
    ])
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(['a2', 'a3', 'b1', 'b2'])
    expect(await inbox.events.get(key('a0'))).toMatchObject({ state: 'ignored', reason: 'stale' })
  })

  test('events of one reference stay in order, also behind one that fails', async () => {
    const { inbox } = bench.inbox({
      processing: { ...processing, concurrency: 2 },
      sources: { shop: shop({ order: 'reference' }) },
    })
    const seen: string[] = []
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        if (event.id === 'r0 1' && ctx.attempt < 3) throw new Error('not yet')
        seen.push(event.id)
      },
      { share: 20, order: 'reference', retry: { firstDelay: 1, maxDelay: 1, maxAttempts: 5 } },
    )
    for (let n = 0; n < 4; n++)
      await postAll(
        inbox,
        ids(5, 'r').map((ref) => ({ id: `${ref} ${n}`, ref })),
      )
    await inbox.start()
    await until(async () => (await statsOf(inbox)).succeeded === 20, 'all succeed')
    expect(await bench.log.effects()).toHaveLength(20)
    for (const ref of ids(5, 'r')) {
      // The last call of each event is the one that was kept.
      const order = seen.filter((id, i) => id.startsWith(`${ref} `) && seen.lastIndexOf(id) === i)
      expect(order).toEqual([0, 1, 2, 3].map((n) => `${ref} ${n}`))
    }
  })

  test('ctx of a handler that has returned is closed while its neighbours still run', async () => {
    const { inbox } = bench.inbox({ processing })
    let late: Promise<unknown> | null = null
    let once: Promise<unknown> | null = null
    const over = signal()
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        if (event.id === 'e0') {
          late = over.wait.then(() => bench.write(ctx.tx, 'late'))
          once = over.wait.then(() => ctx.once('late', () => 'called'))
          for (const one of [late, once]) one.catch(() => {})
        } else {
          over.give()
          await Promise.allSettled([late, once])
        }
      },
      { share: 2 },
    )
    await postAll(inbox, some(2))
    await inbox.drain()
    await expect(late).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
    await expect(once).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
    expect((await bench.log.effects()).sort()).toEqual(['e0', 'e1'])
  })

  test('a lost lease of one event rolls the group back, and the other events keep one effect each', async () => {
    const { inbox } = bench.inbox({ processing })
    const thief = bench.store()
    let stolen = false
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        // Before the transaction begins: a store with one writer has no other writes while it is open.
        if (event.id === 'e0' && !stolen) {
          // A heartbeat may renew the lease in between.
          while (!stolen) {
            await expireLease(bench, 'e2')
            const claim = { worker: 'thief', limit: 1, leaseMs: 60_000, event: key('e2') }
            stolen = (await thief.claim(claim)).length === 1
          }
        }
        await bench.write(ctx.tx, event.id)
      },
      { share: 4 },
    )
    await postAll(inbox, some(4))
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(['e0', 'e1', 'e3'])
    expect(await stateOf(inbox, 'e2')).toBe('processing')
    expect(await statsOf(inbox)).toMatchObject({ succeeded: 3 })
  })

  describe('kill -9', () => {
    const steps = ['in the handler', 'after the effect', 'before commit', 'after commit']

    test('at every step of a shared attempt: each event has its effect once, and nothing is stuck', async () => {
      const { inbox } = bench.inbox({ processing: { ...processing, poll: 20 } })
      const all: string[] = []
      for (const step of steps) {
        const own = ids(6, `${step} `)
        all.push(...own)
        await postAll(
          inbox,
          own.map((id) => ({ id })),
        )
        const told = { step, share: 6, processing: { concurrency: 1 } }
        const child = startChild('./processing-child.mjs', [
          JSON.stringify(told),
          bench.log.insertEffect,
          ...bench.log.args,
        ])
        children.push(child)
        await until(() => child.lines.includes(step), `the child says "${step}"`)
        await child.kill()
      }
      inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id), { share: 6 })
      await inbox.start()
      await until(async () => (await statsOf(inbox)).succeeded === all.length, 'all have succeeded')
      expect((await bench.log.effects()).sort()).toEqual(all.sort())
    })
  })

  test('is checked like the other options', () => {
    const { inbox } = bench.inbox()
    for (const share of [0, -1, 1.5, 1_001, Number.NaN, '5' as unknown as number])
      expect(() => inbox.on('shop', 'a', () => {}, { share })).toThrow(/share/)
    expect(() => inbox.onBatch('shop', 'a', () => {}, { share: 5 } as object)).toThrow(/share/)
  })
})

onLog('SQLite', (bench) => {
  test('a handler that needs the writer for something else gives sharing up, and its effects happen once', async () => {
    const { inbox, lines } = bench.inbox({ processing })
    const calls: string[] = []
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await inbox.once(`once ${event.id}`, () => calls.push(event.id))
        await bench.write(ctx.tx, event.id)
      },
      { share: 6 },
    )
    await postAll(inbox, some(6))
    await inbox.drain()
    expect((await bench.log.effects()).sort()).toEqual(ids(6))
    expect(calls.sort()).toEqual(ids(6))
    expect(lines.filter((line) => line.msg.includes('cannot share'))).toHaveLength(1)
    expect(await statsOf(inbox)).toMatchObject({ succeeded: 6 })
  })
})

onLog('PostgreSQL', (bench) => {
  test.each([
    ['answer', false],
    ['request', true],
  ] as const)('a COMMIT of a group whose %s is lost: one effect for each event', async (what, again) => {
    const proxy = await startProxy(bench.log.args[1]!)
    const real = postgres({ url: proxy.url, schema: bench.log.args[2]! })
    let cut: Promise<void> | undefined
    const store: Store = {
      ...real,
      async transaction(options) {
        const transaction = await real.transaction(options)
        return {
          ...transaction,
          async finish(settlements) {
            if (cut) return transaction.finish(settlements)
            expect(await transaction.settle(settlements)).toEqual(settlements.map(() => true))
            cut = proxy.cutNext(what)
            await transaction.commit()
            return true
          },
        }
      },
    }
    const { inbox } = bench.inbox({ store, processing })
    let calls = 0
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        calls++
        await bench.write(ctx.tx, event.id)
      },
      { share: 5 },
    )
    try {
      // Recorded through another store: the notification of a record would come between, on another connection.
      await postAll(bench.inbox({ processing: false }).inbox, some(5))
      await inbox.drain()
      await cut
      await until(async () => {
        await inbox.drain()
        return (await statsOf(inbox)).succeeded === 5
      }, 'all have succeeded')
      expect((await bench.log.effects()).sort()).toEqual(ids(5))
      expect(calls > 5).toBe(again)
    } finally {
      await inbox.stop({ deadline: 100 })
      await real.close()
      await proxy.close()
    }
  })
})

onLog('SQLite', (bench) => {
  test('events of a group run alone only when the call that needs its own transaction has ended', async () => {
    const { inbox } = bench.inbox({ processing })
    const running = new Map<string, number>()
    let most = 0
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        running.set(event.id, (running.get(event.id) ?? 0) + 1)
        most = Math.max(most, running.get(event.id)!)
        await bench.write(ctx.tx, event.id)
        // The handler goes on after the error.
        await ctx.once('mail', () => null).catch(() => new Promise((resolve) => setTimeout(resolve, 200)))
        running.set(event.id, running.get(event.id)! - 1)
      },
      { share: 10 },
    )
    await postAll(inbox, [{ id: 'e1' }, { id: 'e2' }])
    await inbox.start()
    await until(async () => (await statsOf(inbox)).succeeded === 2, 'both succeed')
    expect(most).toBe(1)
    expect((await bench.log.effects()).sort()).toEqual(['e1', 'e2'])
  })
})
