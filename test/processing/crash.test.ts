/** Workers that die, freeze, lose their line or must stop: the effect is there once, and nothing is stuck. */
import { type Inbox, isHookonceError, type Store } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import {
  aborted,
  type Bench,
  expireLeases,
  ids,
  onBothLogs,
  onLog,
  post,
  postAll,
  signal,
  stateOf,
  until,
} from '../support/processing.js'
import { startProxy } from '../support/proxy.js'

const key = (eventId: string) => ({ source: 'shop', id: eventId })
const statsOf = async (inbox: Inbox) => (await inbox.events.stats())[0]!

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
})

function child(bench: Bench, told: object): Child {
  const started = startChild('./processing-child.mjs', [
    JSON.stringify(told),
    bench.log.insertEffect,
    ...bench.log.args,
  ])
  children.push(started)
  return started
}

const says = (one: Child, line: string) =>
  until(() => one.lines.includes(line), `the child says "${line}", not only ${one.lines.join('; ')}`)

/** The process itself, for signals. */
async function pidOf(one: Child): Promise<number> {
  await one.said(1)
  return Number(one.lines[0]!.slice('pid '.length))
}

onBothLogs((bench) => {
  describe('kill -9', () => {
    const steps = [
      'before claim',
      'after claim',
      'in the handler',
      'after the effect',
      'before settle',
      'before commit',
      'after commit',
    ]

    test('at every step of an attempt: each event has its effect once, and nothing is stuck', async () => {
      const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20 } })
      const all: string[] = []
      for (const step of steps) {
        const own = ids(4, `${step} `)
        all.push(...own)
        await postAll(
          inbox,
          own.map((id) => ({ id })),
        )
        const worker = child(bench, { step, processing: { concurrency: 2 } })
        await says(worker, step)
        await worker.kill()
      }
      inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
      await inbox.start()
      await until(async () => (await statsOf(inbox)).succeeded === all.length, 'all have succeeded')
      expect((await bench.log.effects()).sort()).toEqual(all.sort())
      expect(await statsOf(inbox)).toMatchObject({
        pending: 0,
        processing: 0,
        retrying: 0,
        ignored: 0,
        dead: 0,
      })
      expect(await bench.rows('select * from log.work')).toEqual([])
    })
  })

  test('kill -9 around and during the copy to a consumer: it gets each event once, as the main consumer does', async () => {
    const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20 } })
    const all: string[] = []
    for (const step of ['before copy', 'in the copy', 'after copy', 'in the copy', 'after the effect']) {
      const own = ids(4, `${step} ${all.length} `)
      all.push(...own)
      await postAll(
        inbox,
        own.map((id) => ({ id })),
      )
      const worker = child(bench, { step, consumer: true })
      await says(worker, step)
      await worker.kill()
    }
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, `mail ${event.id}`), { consumer: 'mail' })
    await inbox.start()
    const isDone = async () => {
      const stats = await inbox.events.stats()
      return stats.length === 2 && stats.every(({ succeeded }) => succeeded === all.length)
    }
    await until(isDone, 'both have handled everything')
    const mails = all.map((id) => `mail ${id}`)
    expect((await bench.log.effects()).sort()).toEqual([...all, ...mails].sort())
    expect(await bench.rows('select * from log.work')).toEqual([])
  })

  describe('a frozen worker', () => {
    test.each([
      ['its commit', { end: 'return', deaf: true }, 'go'],
      ['its failure', { end: 'throw', deaf: true }, 'go'],
      ['its heartbeat', { end: 'return', deaf: false }, null],
      ['its release', { end: 'return', deaf: true }, 'stop'],
    ] as const)(
      'whose event another has finished changes nothing when it wakes up: %s',
      async (_, told, then) => {
        const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20 } })
        inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, `${event.id} by another`))
        await postAll(inbox, [{ id: 'e1' }])
        const frozen = child(bench, { ...told, process: 'e1', step: 'in the handler' })
        await says(frozen, 'in the handler')
        const pid = await pidOf(frozen)
        process.kill(pid, 'SIGSTOP')
        await inbox.start()
        await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'another worker finishes it')
        const before = [await inbox.events.get(key('e1')), await inbox.events.attempts(key('e1'))]
        if (then) frozen.tell(then)
        process.kill(pid, 'SIGCONT')
        await says(frozen, 'LEASE_LOST e1')
        if (then !== 'stop') await says(frozen, 'result lost')
        expect([await inbox.events.get(key('e1')), await inbox.events.attempts(key('e1'))]).toEqual(before)
        expect(before[1]).toMatchObject([{ outcome: 'lost' }, { outcome: 'succeeded' }])
        expect(await bench.log.effects()).toEqual(['e1 by another'])
      },
    )
  })

  describe('an event that kills its worker', () => {
    test('ends in the dead letters after its attempts, and the others are processed', async () => {
      const { inbox } = bench.inbox()
      // So few that one claim takes them all: each time the worker dies, all of them are with it.
      const others = ids(8)
      await postAll(
        inbox,
        ['poison', ...others].map((id) => ({ id })),
      )
      const told = {
        abortOn: 'poison',
        maxAttempts: 3,
        // So long that nothing but a crash ends an attempt; the test lets the time pass.
        processing: { lease: 600_000, concurrency: 4 },
      }
      const isOver = async () => {
        const { succeeded, dead } = await statsOf(inbox)
        return succeeded + dead === 9
      }
      let crashes = -1
      for (let over = false; !over; crashes++) {
        expect(crashes).toBeLessThan(10)
        let ended = false
        const worker = child(bench, told)
        worker.ended().then(() => {
          ended = true
        })
        await until(async () => {
          over = await isOver()
          return over || ended
        }, 'the worker dies or all is done')
        await expireLeases(bench)
      }
      const poison = await inbox.events.get(key('poison'))
      expect(poison).toMatchObject({ state: 'failed', nextAttemptAt: null })
      expect(poison?.reason).toMatch(/attempts were used up/)
      expect(crashes).toBe(3)
      expect((await bench.log.effects()).sort()).toEqual([...others].sort())
      expect(await statsOf(inbox)).toMatchObject({ succeeded: 8, dead: 1 })
    })
  })

  describe('a worker that cannot reach the store for longer than its lease', () => {
    test('gives the attempt up, and does not disturb the next one of the same event in the same process', async () => {
      const store = bench.store()
      let reachable = true
      let heartbeats = 0
      const flaky: Store = {
        ...store,
        async extend(leases, leaseMs) {
          if (!reachable) throw new Error('no line')
          const extended = await store.extend(leases, leaseMs)
          heartbeats++
          return extended
        },
      }
      const { inbox } = bench.inbox({ store: flaky, processing: { lease: 5_000, poll: 20 } })
      const reasons: unknown[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        if (ctx.attempt === 1) {
          reachable = false
          await aborted(ctx.signal)
          reasons.push(isHookonceError(ctx.signal.reason, 'LEASE_LOST'))
          return
        }
        reachable = true
        heartbeats = 0
        // There are three heartbeats in a lease: after four only a heartbeat has kept it.
        await until(() => heartbeats >= 4, 'the lease is extended')
        await bench.write(ctx.tx, `${event.id} attempt ${ctx.attempt}`)
      })
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.start()
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
      expect(reasons).toEqual([true])
      expect(await bench.log.effects()).toEqual(['e1 attempt 2'])
      expect((await inbox.events.attempts(key('e1'))).map((one) => one.outcome)).toEqual([
        'lost',
        'succeeded',
      ])
    })

    test('a handler that takes longer than its lease keeps it by heartbeats, and nobody takes the event', async () => {
      const processing = { lease: 5_000, poll: 20 }
      const inboxes = [bench.inbox({ processing }).inbox, bench.inbox({ processing }).inbox]
      let runs = 0
      for (const inbox of inboxes) {
        inbox.on('shop', '*', async (event, ctx) => {
          runs++
          await new Promise((resolve) => setTimeout(resolve, 7_000))
          await bench.write(ctx.tx, event.id)
        })
      }
      await postAll(inboxes[0]!, [{ id: 'e1' }])
      await Promise.all(inboxes.map((inbox) => inbox.start()))
      await until(async () => (await stateOf(inboxes[0]!, 'e1')) === 'succeeded', 'it succeeds')
      expect(runs).toBe(1)
      expect(await bench.log.effects()).toEqual(['e1'])
    })
  })

  describe('a graceful stop', () => {
    test('under load finishes what runs, hands back what waits with its attempt, and loses nothing', async () => {
      const processing = { lease: 30_000, poll: 20, concurrency: 4 }
      const { inbox } = bench.inbox({ processing })
      const seen: string[] = []
      let running = 0
      inbox.on('shop', '*', async (event, ctx) => {
        running++
        seen.push(event.id)
        await new Promise((resolve) => setTimeout(resolve, 15))
        await bench.write(ctx.tx, event.id)
        running--
      })
      await postAll(
        inbox,
        ids(60).map((id) => ({ id })),
      )
      await inbox.start()
      await until(() => seen.length >= 8, 'it is busy')
      await inbox.stop()
      expect(running).toBe(0)
      const begun = seen.length
      expect(begun).toBeLessThan(60)
      const next = bench.inbox({ processing }).inbox
      next.on('shop', '*', async (event, ctx) => {
        seen.push(event.id)
        await bench.write(ctx.tx, event.id)
      })
      expect(await statsOf(next)).toMatchObject({ processing: 0, succeeded: begun, pending: 60 - begun })
      await next.drain()
      const { events } = await next.events.list({}, { limit: 100 })
      expect(events.filter((event) => event.attempts !== 1 || event.state !== 'succeeded')).toEqual([])
      expect((await bench.log.effects()).sort()).toEqual(ids(60).sort())
      expect(begun).toBe(new Set(seen.slice(0, begun)).size)
    })

    test('does not wait for a handler that ignores the signal; what it does later has no effect, and its event runs after the lease', async () => {
      const { inbox } = bench.inbox({ processing: { lease: 600_000 } })
      const goOn = signal()
      const started = signal()
      const late: unknown[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        if (bench.kind === 'PostgreSQL') await bench.write(ctx.tx, event.id)
        started.give()
        await goOn.wait
        await bench.write(ctx.tx, event.id).catch((error) => late.push(error.code))
      })
      await inbox.start()
      await post(inbox, { id: 'e1' })
      await started.wait
      const startedAt = performance.now()
      await inbox.stop({ deadline: 200 })
      expect(performance.now() - startedAt).toBeGreaterThan(190)
      // The handler never ends by itself.
      expect(performance.now() - startedAt).toBeLessThan(20_000)
      const next = bench.inbox().inbox
      expect(await next.events.get(key('e1'))).toMatchObject({ state: 'processing', attempts: 1 })
      goOn.give()
      await until(() => late.length === 1, 'the old handler goes on')
      expect(late).toEqual(['TRANSACTION_CLOSED'])
      expect(await bench.log.effects()).toEqual([])
      next.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
      await expireLeases(bench)
      await until(async () => (await next.drain()) === 1, 'its lease has expired')
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('keeps its deadline with a batch too, while it runs together and while it runs one by one', async () => {
      for (const mode of ['together', 'one by one']) {
        const { inbox, lines } = bench.inbox({ processing: { lease: 30_000 } })
        const started = signal()
        let calls = 0
        inbox.onBatch('shop', '*', async (events) => {
          calls++
          if (mode === 'one by one' && events.length > 1) throw new Error('one by one, please')
          started.give()
          await new Promise(() => {})
        })
        await postAll(
          inbox,
          ids(5, mode).map((id) => ({ id })),
        )
        await inbox.start()
        await started.wait
        const begun = calls
        const startedAt = performance.now()
        await inbox.stop({ deadline: 100 })
        expect([mode, performance.now() - startedAt < 20_000]).toEqual([mode, true])
        expect([mode, calls]).toEqual([mode, begun])
        const next = bench.inbox().inbox
        for (const id of ids(5, mode)) {
          expect(await next.events.get(key(id)), JSON.stringify(lines)).toMatchObject({
            state: 'processing',
            attempts: 1,
          })
        }
        await next.stop()
      }
    })

    test('releases what a slow claim brings after the deadline', async () => {
      const store = bench.store()
      const claimed = signal()
      const goOn = signal()
      const slow: Store = {
        ...store,
        async claim(options) {
          const events = await store.claim(options)
          if (events.length > 0) claimed.give()
          await goOn.wait
          return events
        },
      }
      const { inbox } = bench.inbox({ store: slow, processing: { lease: 30_000 } })
      inbox.on('shop', '*', () => {})
      await post(inbox, { id: 'e1' })
      await inbox.start()
      await claimed.wait
      let stopped = false
      const stopping = inbox.stop({ deadline: 1 }).then(() => {
        stopped = true
      })
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(stopped).toBe(false)
      goOn.give()
      await stopping
      expect(await bench.inbox().inbox.events.get(key('e1'))).toMatchObject({ state: 'pending', attempts: 0 })
    })
  })
})

onLog('PostgreSQL', (bench) => {
  test('workers whose clocks are ten minutes apart take nothing from each other', async () => {
    const { inbox } = bench.inbox({ processing: false })
    await postAll(inbox, [{ id: 'e1' }])
    const processing = { lease: 6_000 }
    const holder = child(bench, { step: 'in the handler', clockMs: -600_000, processing })
    await says(holder, 'in the handler')
    const fast = child(bench, { clockMs: 600_000 })
    const right = child(bench, {})
    await Promise.all([fast.said(1), right.said(1)])
    // Both are at work: they take what is free, for longer than a lease, so that only heartbeats keep it.
    const startedAt = performance.now()
    for (let i = 0; performance.now() - startedAt < 8_000; i++) {
      await postAll(inbox, [{ id: `free${i}` }])
      await until(async () => (await stateOf(inbox, `free${i}`)) === 'succeeded', 'what is free is done')
    }
    expect(await stateOf(inbox, 'e1')).toBe('processing')
    holder.tell('go')
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'its holder finishes it')
    expect((await inbox.events.attempts(key('e1'))).map((one) => one.outcome)).toEqual(['succeeded'])
    expect((await bench.log.effects()).filter((value) => value === 'e1')).toHaveLength(1)
  })

  test('handlers that hold every connection of the pool stop neither intake nor leases', async () => {
    // The events that find no connection wait for one until the end of the test.
    const pool = new pg.Pool({
      connectionString: bench.log.args[1]!,
      max: 3,
      connectionTimeoutMillis: 60_000,
    })
    // `end` does not wait for the server: the removal of the database may still terminate a connection.
    pool.on('error', () => {})
    const store = postgres({ pool, schema: bench.log.args[2]! })
    let heartbeats = 0
    const counting: Store<PostgresTx> = {
      ...store,
      async extend(leases, ms) {
        const alive = await store.extend(leases, ms)
        heartbeats++
        return alive
      },
    }
    const leaseMs = 6_000
    const { inbox } = bench.inbox({
      store: counting,
      processing: { lease: leaseMs, poll: 20, concurrency: 8 },
    })
    const other = bench.inbox({ processing: { lease: leaseMs, poll: 20 } }).inbox
    let stolen = 0
    other.on('shop', '*', () => void stolen++)
    try {
      const end = signal()
      let holding = 0
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        holding++
        await end.wait
      })
      // More than the pool has: the rest wait for a connection, under their leases.
      await postAll(
        inbox,
        ids(6).map((id) => ({ id })),
      )
      await inbox.start()
      await until(async () => holding === 3 && (await statsOf(inbox)).processing === 6, 'the pool is used up')
      await other.start()
      // Three heartbeats are sent in the time of a lease: after four, the first lease would have expired.
      const first = heartbeats
      for (let i = 0; heartbeats < first + 4; i++) {
        const askedAt = performance.now()
        expect((await inbox.receive('shop', delivery(`e${i % 6}`))).httpStatus).toBe(200)
        // A delivery that waited for the pool would wait until the handlers end.
        expect(performance.now() - askedAt).toBeLessThan(10_000)
      }
      expect((await statsOf(inbox)).processing).toBe(6)
      end.give()
      await until(async () => (await statsOf(inbox)).succeeded === 6, 'all are done')
      expect(stolen).toBe(0)
      expect((await bench.log.effects()).sort()).toEqual(ids(6))
    } finally {
      await inbox.stop({ deadline: 100 })
      await store.close()
      await pool.end()
    }
  })

  test.each([
    ['answer', 'succeeded'],
    ['request', 'postponed'],
  ] as const)('a COMMIT whose %s is lost: one effect, and the event has succeeded', async (what, kind) => {
    const proxy = await startProxy(bench.log.args[1]!)
    const store = postgres({ url: proxy.url, schema: bench.log.args[2]! })
    const { inbox } = bench.inbox({
      store,
      processing: { lease: 30_000, retry: { firstDelay: 1, maxDelay: 1 } },
    })
    try {
      let cut: Promise<void> | undefined
      inbox.on('shop', '*', async (event, ctx) => {
        await (ctx.tx as PostgresTx).query('select 1')
        await bench.write(ctx.tx, event.id)
        // The next thing this store says is the end of the transaction.
        cut ??= proxy.cutNext(what)
      })
      // Recorded through another store: the notification of a record would come between, on another connection.
      await post(bench.inbox({ processing: false }).inbox, { id: 'e1' })
      const result = await inbox.process('shop', 'e1')
      await cut
      expect(result?.kind).toBe(kind)
      if (kind === 'postponed') expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect(await bench.log.effects()).toEqual(['e1'])
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'succeeded', attempts: 1 })
    } finally {
      await inbox.stop({ deadline: 100 })
      await store.close()
      await proxy.close()
    }
  })
})

onLog('SQLite', (bench) => {
  test('a worker whose clock jumps may take an event early; its effect is there once all the same', async () => {
    const { inbox } = bench.inbox({ processing: false })
    await postAll(inbox, [{ id: 'e1' }])
    const holder = child(bench, { step: 'in the handler', processing: { lease: 30_000 } })
    await says(holder, 'in the handler')
    const jumped = child(bench, { process: 'e1', clockMs: 600_000 })
    await says(jumped, 'result succeeded')
    holder.tell('go')
    await says(holder, 'LEASE_LOST e1')
    expect(await bench.log.effects()).toEqual(['e1'])
  })
})

function delivery(id: string) {
  const body = Buffer.from(JSON.stringify({ id, type: 'order.paid' }))
  return { method: 'POST', url: 'http://localhost/webhooks/shop', headers: {}, body }
}
