/** A handler that runs on after its time limit: its event and its lane wait for it, and its effects are not repeated. */
import type { CompleteStore } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import {
  aborted,
  onLog,
  post,
  postAll,
  quickRetry,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'
import { OVERTIME_MS, shortened } from '../support/timers.js'

const processing = { poll: 50, retry: quickRetry }
const limit = { timeout: 300 }
const STILL_RUNS = 'the handler still runs after its time limit'
const GIVEN_UP = 'the handler still runs long after its time limit'

onLog('PostgreSQL', (bench) => {
  // The time for which such a handler is waited for is not shortened here: what is looked at lasts as long.
  test('the next attempt, and the next event of the lane, begin when a handler that ignored its time limit has ended', async () => {
    const { inbox, lines } = bench.inbox({ sources: { shop: shop({ order: 'reference' }) }, processing })
    const end = signal()
    const begun: string[] = []
    let running = 0
    let most = 0
    inbox.on(
      'shop',
      'order.*',
      async (event) => {
        most = Math.max(most, ++running)
        if (begun.push(event.id) === 1) await end.wait
        running--
      },
      limit,
    )
    await inbox.start()
    await postAll(inbox, [
      { id: 'first', ref: 'a' },
      { id: 'second', ref: 'a' },
    ])
    await until(() => lines.some(({ msg }) => String(msg).startsWith(STILL_RUNS)), 'it is reported')
    const line = lines.find(({ msg }) => String(msg).startsWith(STILL_RUNS))
    expect(line).toMatchObject({ level: 'warn', source: 'shop', eventId: 'first', handler: 'order.*' })
    expect(begun).toEqual(['first'])
    expect(await stateOf(inbox, 'first')).toBe('processing')
    end.give()
    await until(() => begun.length === 3, 'both go on')
    expect(begun).toEqual(['first', 'first', 'second'])
    expect(most).toBe(1)
    const [attempt] = await inbox.events.attempts({ source: 'shop', id: 'first' })
    expect(attempt?.outcome).toBe('failed')
    expect(JSON.stringify(attempt)).toContain('the handler took longer than 300 ms')
  })

  test('stop does not wait for a handler that ignores its time limit', async () => {
    const { inbox, lines } = bench.inbox({ processing })
    inbox.on('shop', '*', () => new Promise(() => {}), { timeout: 50 })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(() => lines.some(({ msg }) => String(msg).startsWith(STILL_RUNS)), 'it is over its limit')
    await inbox.stop({ deadline: 100 })
    expect(lines.filter(({ msg }) => String(msg).startsWith(GIVEN_UP))).toEqual([])
  })
})

onLog('PostgreSQL', (bench) => {
  shortened(OVERTIME_MS)

  test('an event is tried again, and the overlap is reported, when its handler never ends', async () => {
    const { inbox, lines } = bench.inbox({ processing })
    let begun = 0
    inbox.on('shop', '*', () => (++begun === 1 ? new Promise(() => {}) : undefined), limit)
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it is tried again')
    expect(lines.filter(({ msg }) => String(msg).startsWith(GIVEN_UP))).toMatchObject([
      { level: 'warn', eventId: 'e1', handler: '*' },
    ])
    const [attempt] = await inbox.events.attempts({ source: 'shop', id: 'e1' })
    expect(JSON.stringify(attempt)).toContain('took longer than 300 ms, and still ran 10 seconds later')
  })

  test.each([
    ['before', false],
    ['within', true],
  ])(
    'an effect that ends after the time limit is not repeated, when it began %s a transaction',
    async (_, opens) => {
      const { inbox, lines } = bench.inbox({ processing })
      const end = signal()
      let begun = 0
      let calls = 0
      const results: unknown[] = []
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          begun++
          if (opens && ctx.attempt === 1) await bench.write(ctx.tx, event.id)
          const call = ctx.once('mail', async () => {
            calls++
            await end.wait
            return 'sent'
          })
          results.push(await call)
        },
        limit,
      )
      await inbox.start()
      await post(inbox, { id: 'e1' })
      const isLate = () => lines.some(({ msg }) => String(msg).startsWith(STILL_RUNS))
      await until(() => isLate() || begun === 2, 'the first attempt is out of time')
      end.give()
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
      expect(calls).toBe(1)
      expect(results.at(-1)).toBe('sent')
      expect(await bench.log.effects()).toEqual([])
    },
  )

  test('an effect that ended inside a transaction is not repeated when the handler is out of time', async () => {
    const { inbox } = bench.inbox({ processing })
    let calls = 0
    inbox.on(
      'shop',
      '*',
      async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        await ctx.once('mail', () => ++calls)
        if (ctx.attempt === 1) await aborted(ctx.signal)
      },
      limit,
    )
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
    expect(calls).toBe(1)
    expect(await bench.log.effects()).toEqual(['e1'])
  })

  test('an effect is not begun after the time limit when the store is slow, and does not count as begun', async () => {
    const store = bench.store()
    const over = signal()
    const slow: CompleteStore = {
      ...store,
      keys: {
        ...store.keys,
        async effect(step) {
          const state = await store.keys.effect(step)
          if (step.step === 'start') await over.wait
          return state
        },
      },
    }
    const { inbox } = bench.inbox({ store: slow, processing })
    const called: number[] = []
    inbox.on(
      'shop',
      '*',
      async (_event, ctx) => {
        void aborted(ctx.signal).then(over.give)
        await ctx.once('mail', () => called.push(ctx.attempt), { onUnknown: 'review' })
      },
      { timeout: 3_000 }, // enough for the second attempt, whose effect is not held up
    )
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
    expect(called).toEqual([2])
  })

  test('a later attempt joins an effect that still runs, also with onUnknown: review, and without a lookup', async () => {
    const { inbox, lines } = bench.inbox({ processing })
    const end = signal()
    let calls = 0
    let asked = 0
    let joined = 0
    inbox.on(
      'shop',
      '*',
      async (_event, ctx) => {
        if (ctx.attempt === 2) joined++
        const send = async () => {
          calls++
          await end.wait
          return 'sent'
        }
        const lookup = () => {
          asked++
          return null // it is still under way
        }
        await Promise.all([
          ctx.once('mail', send, { onUnknown: 'review' }),
          ctx.once('fax', send, { lookup }),
        ])
      },
      { timeout: 2_000 },
    )
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(() => lines.some(({ msg }) => String(msg).startsWith(GIVEN_UP)), 'the first attempt is over')
    await until(() => joined === 1, 'the second one has begun')
    end.give()
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
    expect([calls, asked]).toEqual([2, 0])
  })

  test('the result of an effect that ends between two attempts is recorded for the next one, in any process', async () => {
    const options = { processing: { poll: 50, retry: { firstDelay: 600_000, maxDelay: 600_000 } } }
    const { inbox, lines } = bench.inbox(options)
    const end = signal()
    let calls = 0
    inbox.on(
      'shop',
      '*',
      (_event, ctx) =>
        ctx.once('mail', async () => {
          calls++
          await end.wait
          return 'sent'
        }),
      { timeout: 2_000 }, // the effect has begun by then
    )
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'failed', 'the attempt is over')
    expect(lines.filter(({ msg }) => String(msg).startsWith(GIVEN_UP))).toHaveLength(1)
    end.give()
    await until(
      async () => (await bench.rows('select * from log.effects where finished_at is not null')).length === 1,
      'its result is recorded',
    )
    const { inbox: other } = bench.inbox(options)
    const results: unknown[] = []
    other.on('shop', '*', async (_event, ctx) => {
      results.push(await ctx.once('mail', () => ++calls))
    })
    await other.process('shop', 'e1')
    expect(results).toEqual(['sent'])
    expect(calls).toBe(1)
  })
})
