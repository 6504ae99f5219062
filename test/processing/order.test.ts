/** Who runs when: order per reference, the stale guard, batches, pauses, limits and fairness. */

import { setImmediate } from 'node:timers/promises'
import { type HandledEvent, permanent, type StandardSchema } from 'hookonce'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
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

const key = (eventId: string, source = 'shop') => ({ source, id: eventId })
const someMs = (most: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))
const finished = (stats: { pending: number; processing: number; retrying: number } | undefined) =>
  stats !== undefined && stats.pending + stats.processing + stats.retrying === 0
const centsSchema: StandardSchema<{ cents: number }> = {
  '~standard': {
    validate(value) {
      const { amount } = value as { amount?: unknown }
      return typeof amount === 'number'
        ? { value: { cents: 100 * amount } }
        : { issues: [{ message: 'expected a number', path: ['amount'] }] }
    },
  },
}

onBothLogs((bench) => {
  describe("order: 'reference'", () => {
    test('events of a reference run one at a time and in order, with two workers and many references', async () => {
      const processing = { lease: 30_000, poll: 20, concurrency: 8, retry: quickRetry }
      const inboxes = [bench.inbox({ processing }).inbox, bench.inbox({ processing }).inbox]
      const order = new Map<string, string[]>()
      const running = new Set<string>()
      const overlaps: string[] = []
      let most = 0
      for (const inbox of inboxes) {
        inbox.on(
          'shop',
          '*',
          async (event) => {
            const ref = event.reference ?? ''
            if (running.has(ref)) overlaps.push(event.id)
            running.add(ref)
            most = Math.max(most, running.size)
            await someMs(4)
            running.delete(ref)
            order.set(ref, [...(order.get(ref) ?? []), event.id])
          },
          { order: 'reference' },
        )
      }
      const refs = ids(15, 'r')
      for (let i = 0; i < 8; i++) {
        await Promise.all(refs.map((ref) => post(inboxes[i % 2]!, { id: `${ref}-${i}`, ref })))
      }
      await Promise.all(inboxes.map((inbox) => inbox.start()))
      await until(async () => finished((await inboxes[0]!.events.stats())[0]), 'all are done')
      expect(overlaps).toEqual([])
      for (const ref of refs) expect(order.get(ref)).toEqual(ids(8, `${ref}-`))
      // References do not wait for each other.
      expect(most).toBeGreaterThan(3)
    })

    test('a head that fails blocks its own reference only, until it succeeds, dies or is ignored', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop({ order: 'reference' }) } })
      const done: string[] = []
      inbox.on(
        'shop',
        '*',
        (event, ctx) => {
          if (event.id === 'heals0' && ctx.attempt < 3) throw new Error('not yet')
          if (event.id === 'dies0') throw permanent('never')
          if (event.id === 'stuck0') throw new Error('later')
          done.push(event.id)
        },
        { retry: { ...quickRetry, maxAttempts: 1_000_000 } },
      )
      for (let i = 0; i < 3; i++) {
        await postAll(
          inbox,
          ['heals', 'dies', 'stuck', 'free'].map((ref) => ({ id: `${ref}${i}`, ref })),
        )
      }
      await postAll(inbox, [{ id: 'no reference' }])
      await inbox.start()
      await until(() => done.length === 9, 'the others are done')
      expect(done.filter((id) => id.startsWith('heals'))).toEqual(ids(3, 'heals'))
      expect(done.filter((id) => id.startsWith('dies'))).toEqual(['dies1', 'dies2'])
      expect(done.filter((id) => id.startsWith('free'))).toEqual(ids(3, 'free'))
      expect(done.filter((id) => id.startsWith('stuck'))).toEqual([])
      expect(await stateOf(inbox, 'stuck1')).toBe('pending')
      await until(async () => (await inbox.ignore(key('stuck0'))).done, 'the head is ignored')
      await until(() => done.includes('stuck2'), 'what waited behind it is done')
      expect(done.filter((id) => id.startsWith('stuck'))).toEqual(['stuck1', 'stuck2'])
    })
  })

  describe('the stale guard', () => {
    test('an event older than what was applied is ignored as stale and never reaches the handler', async () => {
      const { inbox } = bench.inbox()
      const applied: string[] = []
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          applied.push(event.id)
          await bench.write(ctx.tx, event.id)
        },
        { stale: (event) => (event.payload as { version: number }).version },
      )
      const send = async (id: string, ref: string, version: number) => {
        await post(inbox, { id, ref, version })
        await inbox.drain()
      }
      await send('new', 'r1', 5)
      await send('old', 'r1', 4)
      await send('equal', 'r1', 5)
      await send('other', 'r2', 1)
      await send('newer', 'r1', 6)
      expect(applied).toEqual(['new', 'equal', 'other', 'newer'])
      expect(await inbox.events.get(key('old'))).toMatchObject({ state: 'ignored', reason: 'stale' })
    })

    test('a failed attempt applies nothing, so an older event after it is not stale', async () => {
      const { inbox } = bench.inbox()
      inbox.on(
        'shop',
        '*',
        (event) => {
          if (event.id === 'new') throw permanent('so')
        },
        { stale: (event) => (event.payload as { version: number }).version },
      )
      await post(inbox, { id: 'new', ref: 'r', version: 2 })
      await inbox.drain()
      await post(inbox, { id: 'old', ref: 'r', version: 1 })
      await inbox.drain()
      expect(await stateOf(inbox, 'old')).toBe('succeeded')
    })

    test('events out of order at the same time: what is applied never goes backwards', async () => {
      const processing = { lease: 30_000, poll: 20, concurrency: 8, retry: quickRetry }
      const inboxes = [bench.inbox({ processing }).inbox, bench.inbox({ processing }).inbox]
      for (const inbox of inboxes) {
        inbox.on(
          'shop',
          '*',
          async (event, ctx) => {
            await someMs(15)
            // The row is written in the order of the commits, for SQLite and for the sequence of one reference.
            await bench.write(ctx.tx, event.id)
            await someMs(5)
          },
          { stale: (event) => (event.payload as { version: number }).version },
        )
      }
      const versions = Array.from({ length: 40 }, (_, i) => i).sort(() => Math.random() - 0.5)
      await postAll(
        inboxes[0]!,
        versions.map((version) => ({ id: `v${version}`, ref: 'r', version })),
      )
      await Promise.all(inboxes.map((inbox) => inbox.start()))
      await until(async () => finished((await inboxes[0]!.events.stats())[0]), 'all are done')
      const attempts = await bench.rows(
        "select e.event_id, a.outcome from log.attempts a join log.events e on e.seq = a.seq where a.outcome <> 'succeeded'",
      )
      const effects = (await bench.log.effects()).sort()
      const states = (await inboxes[0]!.events.list({}, { limit: 100 })).events
      const succeeded = states.filter((event) => event.state === 'succeeded')
      expect(effects).toEqual(succeeded.map((event) => event.id).sort())
      expect(states.filter((event) => event.state !== 'succeeded' && event.reason !== 'stale')).toEqual([])
      expect(attempts.every((row) => row.outcome === 'ignored')).toBe(true)
      // Nothing has finished after the newest, though some may have in the same millisecond.
      const newest = succeeded.find((event) => event.id === 'v39')
      expect(newest?.processedAt).toBe(Math.max(...succeeded.map((event) => event.processedAt ?? 0)))
      const watermark = await (await wholeInbox(inboxes[0]!).store()).keys!.watermark('shop', '1:* r')
      expect(watermark).toBe(39)
    })

    test('an older event that is being handled when a newer one commits is undone', async () => {
      const { inbox } = bench.inbox()
      const started = signal()
      const goOn = signal()
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          if (event.id === 'old') {
            started.give()
            await goOn.wait
          }
          await bench.write(ctx.tx, event.id)
        },
        { stale: (event) => (event.payload as { version: number }).version },
      )
      await post(inbox, { id: 'old', ref: 'r', version: 1 })
      const old = inbox.process('shop', 'old')
      await started.wait
      await post(inbox, { id: 'new', ref: 'r', version: 2 })
      expect(await inbox.process('shop', 'new')).toEqual({ kind: 'succeeded' })
      goOn.give()
      expect(await old).toEqual({ kind: 'ignored', reason: 'stale' })
      expect(await bench.log.effects()).toEqual(['new'])
      expect(await inbox.events.get(key('old'))).toMatchObject({ state: 'ignored', reason: 'stale' })
    })
  })

  describe('onBatch', () => {
    test('many events are one call, one transaction and one commit', async () => {
      const store = bench.store()
      let begun = 0
      const transaction = () => {
        begun++
        return store.transaction()
      }
      const { inbox } = bench.inbox({ store: { ...store, transaction } })
      const calls: number[] = []
      inbox.onBatch('shop', '*', async (events, ctx) => {
        calls.push(events.length)
        for (const event of events) await bench.write(ctx.tx, event.id)
      })
      await postAll(
        inbox,
        ids(12).map((id) => ({ id })),
      )
      expect(await inbox.drain()).toBe(12)
      expect(calls).toEqual([12])
      expect(begun).toBe(1)
      expect((await bench.log.effects()).sort()).toEqual(ids(12).sort())
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 12 })
    })

    test('maxBatch bounds a call', async () => {
      const { inbox } = bench.inbox()
      const calls: number[] = []
      inbox.onBatch('shop', '*', (events) => void calls.push(events.length), { maxBatch: 5 })
      await postAll(
        inbox,
        ids(12).map((id) => ({ id })),
      )
      await inbox.drain()
      expect(calls.sort()).toEqual([2, 5, 5])
    })

    test('a bad event fails alone: the others succeed, and each effect is there once', async () => {
      const { inbox } = bench.inbox()
      inbox.onBatch('shop', '*', async (events, ctx) => {
        for (const event of events) {
          await bench.write(ctx.tx, event.id)
          if (event.id === 'e3') throw permanent('bad')
        }
      })
      await postAll(
        inbox,
        ids(10).map((id) => ({ id })),
      )
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(ids(10).filter((id) => id !== 'e3'))
      expect(await inbox.events.get(key('e3'))).toMatchObject({
        state: 'failed',
        nextAttemptAt: null,
        reason: 'bad',
      })
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 9, dead: 1 })
    })

    test('begins no transaction when ctx.tx is not used', async () => {
      const store = bench.store()
      let begun = 0
      const transaction = () => {
        begun++
        return store.transaction()
      }
      const { inbox } = bench.inbox({ store: { ...store, transaction } })
      inbox.onBatch('shop', '*', () => {})
      await postAll(
        inbox,
        ids(3).map((id) => ({ id })),
      )
      await inbox.drain()
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 3 })
      expect(begun).toBe(0)
    })

    test('a payload that does not fit the schema is a dead letter; the others reach the handler in one call', async () => {
      const { inbox } = bench.inbox()
      const calls: number[][] = []
      inbox.onBatch(
        'shop',
        '*',
        async (events, ctx) => {
          calls.push(events.map((event) => event.payload.cents))
          for (const event of events) await bench.write(ctx.tx, event.id)
        },
        { schema: centsSchema },
      )
      await postAll(inbox, [
        { id: 'e0', amount: 1 },
        { id: 'bad', amount: 'one' },
        { id: 'e1', amount: 2 },
      ])
      await inbox.drain()
      expect(calls.map((call) => call.sort())).toEqual([[100, 200]])
      expect((await bench.log.effects()).sort()).toEqual(['e0', 'e1'])
      expect(await inbox.events.get(key('bad'))).toMatchObject({
        state: 'failed',
        nextAttemptAt: null,
        reason: 'the payload does not fit the schema: expected a number at amount',
      })
      expect(await inbox.events.attempts(key('bad'))).toHaveLength(1)
    })

    test('an event older than the last one applied for its reference is ignored as stale', async () => {
      const { inbox } = bench.inbox()
      const calls: string[][] = []
      inbox.onBatch(
        'shop',
        '*',
        async (events, ctx) => {
          calls.push(events.map((event) => event.id))
          for (const event of events) await bench.write(ctx.tx, event.id)
        },
        { stale: (event) => (event.payload as { version: number }).version },
      )
      await postAll(inbox, [{ id: 'new', ref: 'a', version: 2 }])
      await inbox.drain()
      await postAll(inbox, [
        { id: 'old', ref: 'a', version: 1 },
        { id: 'same', ref: 'a', version: 2 },
        { id: 'other', ref: 'b', version: 1 },
        { id: 'free', version: 0 },
      ])
      await inbox.drain()
      expect(calls.map((call) => call.sort())).toEqual([['new'], ['free', 'other', 'same']])
      expect(await inbox.events.get(key('old'))).toMatchObject({ state: 'ignored', reason: 'stale' })
      expect((await bench.log.effects()).sort()).toEqual(['free', 'new', 'other', 'same'])
    })

    test('events of one reference that come in the wrong order end as if they had run one by one', async () => {
      const { inbox } = bench.inbox({ processing: { concurrency: 1, poll: 50 } })
      inbox.onBatch(
        'shop',
        '*',
        async (events, ctx) => {
          for (const event of events) await bench.write(ctx.tx, event.id)
        },
        { stale: (event) => (event.payload as { version: number }).version },
      )
      for (const event of [
        { id: 'v2', ref: 'a', version: 2 },
        { id: 'v1', ref: 'a', version: 1 },
        { id: 'v3', ref: 'a', version: 3 },
      ])
        await post(inbox, event)
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(['v2', 'v3'])
      expect(await inbox.events.get(key('v1'))).toMatchObject({ state: 'ignored', reason: 'stale' })
    })

    test('a stale event found at the commit rolls the batch back; the others are applied once', async () => {
      const { inbox } = bench.inbox()
      const other = bench.inbox().inbox
      const options = { stale: (event: HandledEvent) => (event.payload as { version: number }).version }
      let calls = 0
      inbox.onBatch(
        'shop',
        'order.*',
        async (events, ctx) => {
          // Another process applies a newer fact while this batch runs.
          if (++calls === 1) {
            await post(other, { id: 'newer', ref: 'a', version: 2 })
            await other.drain()
          }
          for (const event of events) await bench.write(ctx.tx, event.id)
        },
        options,
      )
      other.onBatch('shop', 'order.*', () => {}, options)
      await postAll(inbox, [
        { id: 'e0', ref: 'a', version: 1 },
        { id: 'e1', ref: 'b', version: 1 },
      ])
      await inbox.drain()
      expect(await inbox.events.get(key('e0'))).toMatchObject({ state: 'ignored', reason: 'stale' })
      expect(await stateOf(inbox, 'newer')).toBe('succeeded')
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('ctx.ignore(event, reason) ends that event as ignored in the same commit', async () => {
      const { inbox } = bench.inbox()
      inbox.onBatch('shop', '*', async (events, ctx) => {
        for (const event of events) {
          await bench.write(ctx.tx, event.id)
          if (event.id === 'e1') ctx.ignore(event, 'a test order')
        }
      })
      await postAll(
        inbox,
        ids(3).map((id) => ({ id })),
      )
      await inbox.drain()
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'ignored', reason: 'a test order' })
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 2, ignored: 1 })
      expect((await bench.log.effects()).sort()).toEqual(ids(3))
    })

    test('ctx.ignore of an event of another batch fails the attempt', async () => {
      const { inbox } = bench.inbox()
      inbox.onBatch('shop', '*', (events, ctx) => ctx.ignore({ ...events[0]! }, 'a copy'), {
        retry: { maxAttempts: 1 },
      })
      await postAll(inbox, [{ id: 'e0' }])
      await inbox.drain()
      expect((await inbox.events.get(key('e0')))?.reason).toMatch(/needs an event of this batch/)
    })

    test('events of a batch that a stop interrupts go back in one call, and their attempts do not count', async () => {
      const { store, released } = noted(bench.store())
      const { inbox } = bench.inbox({ store })
      const started = signal()
      inbox.onBatch('shop', '*', (_events, ctx) => {
        started.give()
        return new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      })
      await postAll(
        inbox,
        ids(4).map((id) => ({ id })),
      )
      await inbox.start()
      await started.wait
      await inbox.stop({ deadline: 50 })
      expect(released).toEqual([4])
      const next = bench.inbox().inbox
      for (const id of ids(4))
        expect(await next.events.get(key(id))).toMatchObject({ state: 'pending', attempts: 0 })
    })

    test('an event whose workers died more often than allowed is a dead letter and is not run again', async () => {
      const store = bench.store()
      const { inbox } = bench.inbox({ store, processing: { lease: 30_000, poll: 20 } })
      let calls = 0
      inbox.onBatch('shop', '*', () => void calls++, { retry: { maxAttempts: 2 } })
      await postAll(inbox, [{ id: 'poison' }])
      for (let crash = 0; crash < 2; crash++) {
        await until(
          async () =>
            (await store.claim({ worker: 'crashed', limit: 1, leaseMs: 50, sources: ['shop'] })).length === 1,
          'a worker takes it and dies',
        )
      }
      await inbox.start()
      await until(async () => (await inbox.events.stats())[0]?.dead === 1, 'it is a dead letter')
      expect((await inbox.events.get(key('poison')))?.reason).toMatch(/attempts were used up/)
      expect(calls).toBe(0)
    })
  })

  describe('pause and resume', () => {
    test('a paused source starts nothing new, not even what was claimed already, and goes on when resumed', async () => {
      const processing = { lease: 30_000, poll: 20, concurrency: 1 }
      const { inbox } = bench.inbox({ processing })
      const started: string[] = []
      const goOn = signal()
      const first = signal()
      inbox.on('shop', '*', async (event) => {
        started.push(event.id)
        first.give()
        if (started.length === 1) await goOn.wait
      })
      await postAll(
        inbox,
        ids(5).map((id) => ({ id })),
      )
      await inbox.start()
      await first.wait
      await inbox.pause('shop')
      goOn.give()
      await until(async () => (await inbox.events.stats())[0]?.succeeded === 1, 'what ran is finished')
      await postAll(inbox, [{ id: 'late' }])
      await until(async () => (await inbox.events.stats())[0]?.processing === 0, 'nothing is held')
      expect(started).toHaveLength(1)
      await inbox.resume('shop')
      await until(async () => (await inbox.events.stats())[0]?.succeeded === 6, 'all are done')
      expect([...started].sort()).toEqual([...ids(5), 'late'])
      // Handed back, not tried: nobody lost an attempt.
      const { events } = await inbox.events.list({})
      expect(events.map((event) => event.attempts)).toEqual(Array.from({ length: 6 }, () => 1))
    })

    test('a paused type stops only its own events', async () => {
      const { inbox } = bench.inbox()
      const done: string[] = []
      inbox.on('shop', 'a', (event) => void done.push(event.id))
      inbox.on('shop', 'b', (event) => void done.push(event.id))
      await inbox.pause('shop', 'a')
      await inbox.start()
      await postAll(
        inbox,
        ids(3).flatMap((id) => [
          { id: `a${id}`, type: 'a' },
          { id: `b${id}`, type: 'b' },
        ]),
      )
      await until(() => done.length === 3, 'those of b are done')
      expect(done.every((id) => id.startsWith('b'))).toBe(true)
      await inbox.resume('shop', 'a')
      await until(() => done.length === 6, 'those of a are done')
      expect((await inbox.events.get(key('ae0')))?.attempts).toBe(1)
    })

    test('pausing what is not there is an error for the caller, before and after the start', async () => {
      const { inbox } = bench.inbox()
      await expect(inbox.pause('shpo')).rejects.toThrow(/there is no "shpo" \(did you mean "shop"\?\)/)
      await inbox.start()
      await expect(inbox.pause('shop/mail')).rejects.toThrow(/there is no "shop\/mail" \(known: shop\)/)
    })
  })

  describe('limits', () => {
    test('a handler with a limit of its own stays within it, and the process within its own', async () => {
      const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20, concurrency: 4 } })
      const running = { slow: 0, quick: 0 }
      const most = { slow: 0, quick: 0, all: 0 }
      for (const type of ['slow', 'quick'] as const) {
        inbox.on(
          'shop',
          type,
          async () => {
            running[type]++
            most[type] = Math.max(most[type], running[type])
            most.all = Math.max(most.all, running.slow + running.quick)
            await someMs(10)
            running[type]--
          },
          type === 'slow' ? { limit: { concurrency: 2 } } : {},
        )
      }
      await postAll(
        inbox,
        ids(20).flatMap((id) => [
          { id: `s${id}`, type: 'slow' },
          { id: `q${id}`, type: 'quick' },
        ]),
      )
      await inbox.start()
      await until(async () => (await inbox.events.stats())[0]?.succeeded === 40, 'all are done')
      expect(most.slow).toBe(2)
      expect(most.all).toBeLessThanOrEqual(4)
      expect(most.quick).toBeGreaterThanOrEqual(2)
    })

    test('events of a handler that is full do not keep those of another from running', async () => {
      const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20, concurrency: 2 } })
      const end = signal()
      const done: string[] = []
      inbox.on('shop', 'slow', () => end.wait, { limit: { concurrency: 1 } })
      inbox.on('shop', 'quick', (event) => void done.push(event.id))
      await postAll(
        inbox,
        ids(20, 's').map((id) => ({ id, type: 'slow' })),
      )
      await inbox.start()
      await until(async () => (await inbox.events.stats())[0]?.processing !== 0, 'it has begun')
      await postAll(inbox, [{ id: 'q', type: 'quick' }])
      await until(() => done.length === 1, 'the other handler gets its turn')
      end.give()
      await until(async () => (await inbox.events.stats())[0]?.succeeded === 21, 'all are done')
      const { events } = await inbox.events.list({}, { limit: 50 })
      expect(events.filter((event) => event.attempts !== 1)).toEqual([])
    })

    test('a source with few events is not kept waiting by one with many', async () => {
      const sources = { busy: shop(), calm: shop() }
      const { inbox } = bench.inbox({ sources, processing: { lease: 30_000, poll: 20, concurrency: 4 } })
      const order: string[] = []
      for (const source of ['busy', 'calm']) {
        inbox.on(source, '*', async (event) => {
          order.push(event.source)
          await setImmediate()
        })
      }
      await postAll(
        inbox,
        ids(200).map((id) => ({ id })),
        'busy',
      )
      await postAll(
        inbox,
        ids(4).map((id) => ({ id })),
        'calm',
      )
      await inbox.start()
      await until(() => order.length === 204, 'all are done')
      expect(order.lastIndexOf('calm')).toBeLessThan(60)
    })
  })

  describe('events that cannot run yet', () => {
    test('a group handler with one call at a time and no size of its own takes full groups and hands nothing back', async () => {
      const { store, released } = noted(bench.store())
      const { inbox } = bench.inbox({ store })
      await postAll(
        inbox,
        ids(120).map((id) => ({ id })),
      )
      const groups: number[] = []
      inbox.onBatch(
        'shop',
        '*',
        async (events) => {
          groups.push(events.length)
          await someMs(50)
        },
        { limit: { concurrency: 1 } },
      )
      await inbox.start()
      await until(async () => finished((await inbox.events.stats())[0]), 'all are done')
      expect(released).toEqual([])
      expect(groups.reduce((sum, size) => sum + size, 0)).toBe(120)
      expect(groups.length).toBeLessThanOrEqual(4)
    })

    test('are kept by a drain, which ends when all have run', async () => {
      const { store, released } = noted(bench.store())
      const { inbox } = bench.inbox({ store })
      await postAll(
        inbox,
        ids(40).map((id) => ({ id })),
      )
      inbox.on('shop', '*', async () => setImmediate(), { limit: { concurrency: 1 } })
      expect(await inbox.drain()).toBe(40)
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 40, pending: 0 })
      expect(released).toEqual([])
    })

    test('are handed back in one call for all that one look found', async () => {
      const { store, released } = noted(bench.store())
      const { inbox } = bench.inbox({
        store,
        processing: { lease: 30_000, poll: 50, concurrency: 20 },
      })
      await postAll(
        inbox,
        ids(40).map((id) => ({ id })),
      )
      const goOn = signal()
      inbox.on('shop', '*', () => goOn.wait, { limit: { concurrency: 1 } })
      await inbox.start()
      await until(() => released.length > 0, 'some are handed back')
      expect(released[0]).toBeGreaterThan(30)
      goOn.give()
    })
  })
})

/** The store, with how many leases each release handed back. */
function noted(store: CompleteStore): { store: CompleteStore; released: number[] } {
  const released: number[] = []
  const release: CompleteStore['release'] = (leases, delayMs) => {
    released.push(leases.length)
    return store.release(leases, delayMs)
  }
  return { store: { ...store, release }, released }
}
