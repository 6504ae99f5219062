/**
 * The handler option `limit`, in several processes. The lower bound of a rate is tested in virtual time, in
 * `test/simulation/limits.test.ts`: on a busy machine it would measure the machine.
 */
import { randomUUID } from 'node:crypto'
import { createInbox, type Inbox, retryAfter } from 'hookonce'
import { afterEach, describe, expect, test } from 'vitest'
import type { HandlerLimit } from '#dist/processing/handler.js'
import { limitOn } from '#dist/store/grants.js'
import { type Child, startChild } from '../support/child.js'
import {
  type Bench,
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

const key = (id: string) => ({ source: 'shop', id })

onBothLogs((bench) => {
  describe('several processes', () => {
    const children: Child[] = []
    afterEach(async () => {
      await Promise.all(children.splice(0).map((child) => child.kill()))
    })

    async function start(count: number, told: Record<string, unknown>): Promise<readonly Child[]> {
      for (let i = 0; i < count; i++)
        children.push(
          startChild('limit-child.mjs', [JSON.stringify(told), bench.log.insertEffect, ...bench.log.args]),
        )
      await Promise.all(children.map((child) => child.said(1)))
      return children
    }

    const linesOf = (word: string) =>
      children.flatMap(({ lines }) =>
        lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')),
      )

    test('of four processes together, never more than 105 calls begin in a second at 100 per second', async () => {
      const { inbox } = bench.inbox({ processing: false })
      await postAll(
        inbox,
        ids(320).map((id) => ({ id })),
      )
      await start(4, { limit: { perSecond: 100 } })
      await until(async () => (await inbox.events.stats())[0]?.succeeded === 320, 'all are handled')
      const begun = linesOf('begin')
      expect(begun.length).toBe(320)
      const starts = begun.map(([, , at]) => Number(at)).sort((a, b) => a - b)
      const most = starts.map((at, i) => starts.filter((other, j) => j >= i && other < at + 1_000).length)
      expect(Math.max(...most)).toBeLessThanOrEqual(105)
      const { events } = await inbox.events.list({}, { limit: 400 })
      expect(events.filter(({ attempts }) => attempts !== 1)).toEqual([])
    })

    test('a limit of one holds while its holder is killed, and while it is frozen and wakes up', async () => {
      const { inbox } = bench.inbox({ processing: false })
      await inbox.events.stats()
      const processing = { lease: 5_000, retry: quickRetry }
      await start(3, { limit: { concurrency: 1 }, handlerMs: 15, hold: ['killed', 'frozen'], processing })
      const holderOf = async (id: string) => {
        const find = () => children.find(({ lines }) => lines.includes(`hold ${id}`))
        await until(() => find() !== undefined, `${id} is held`)
        return find()!
      }
      const done = async () => new Set((await bench.log.effects()).map((value) => value.split(' ')[0]))
      const send = (names: readonly string[]) =>
        postAll(
          inbox,
          names.map((id) => ({ id })),
        )

      await send(['killed', ...ids(5, 'a')])
      await (await holderOf('killed')).kill()
      await until(async () => (await done()).size === 6, 'the others go on')
      await send(['frozen', ...ids(5, 'b')])
      const frozen = await holderOf('frozen')
      frozen.signal('SIGSTOP')
      await until(async () => (await done()).size === 12, 'the last one goes on')
      frozen.signal('SIGCONT')
      frozen.tell('go')
      await send(ids(12, 'c'))
      await until(async () => (await done()).size === 24, 'all are handled')

      const spans = (await bench.log.effects()).map((value) => value.split(' '))
      const sent = ['killed', 'frozen', ...ids(5, 'a'), ...ids(5, 'b'), ...ids(12, 'c')]
      expect(spans.map(([id]) => id).sort()).toEqual(sent.sort())
      const inOrder = spans.map(([id, from, to]) => ({ id, from: Number(from), to: Number(to) }))
      inOrder.sort((a, b) => a.from - b.from)
      const overlaps = inOrder.filter(({ from }, i) => i > 0 && from < inOrder[i - 1]!.to)
      expect(overlaps).toEqual([])
    })
  })

  test('an event that waits for a limit stops no other type, source or reference, and uses up no attempt', async () => {
    const { inbox } = bench.inbox({
      sources: { shop: shop(), calm: shop() },
      processing: { poll: 50, concurrency: 4, retry: quickRetry },
    })
    const end = signal()
    const handled: string[] = []
    const note = ({ id }: { id: string }) => void handled.push(id)
    inbox.on('shop', 'rare', note, { limit: { perSecond: 0.001 } })
    inbox.on('shop', 'one', () => end.wait, { limit: { concurrency: 1 } })
    inbox.on('shop', 'each', ({ id, reference }) => (reference === 'slow' ? end.wait : note({ id })), {
      limit: { concurrency: 1, by: 'reference' },
    })
    inbox.on('shop', 'free', note)
    inbox.on('calm', '*', note)
    const waiting = [
      ...ids(20, 'rare').map((id) => ({ id, type: 'rare' })),
      ...ids(20, 'one').map((id) => ({ id, type: 'one' })),
      ...ids(20, 'slow').map((id) => ({ id, type: 'each', ref: 'slow' })),
    ]
    await postAll(inbox, waiting)
    await inbox.start()
    await until(() => handled.length === 1, 'the first of the rare ones')
    await postAll(
      inbox,
      ids(5, 'free').map((id) => ({ id, type: 'free' })),
    )
    await postAll(
      inbox,
      ids(5, 'quick').map((id) => ({ id, type: 'each', ref: `quick ${id}` })),
    )
    await postAll(
      inbox,
      ids(5, 'calm').map((id) => ({ id })),
      'calm',
    )
    await until(() => handled.length === 16, 'all that may run')
    end.give()
    await until(
      async () =>
        (await inbox.events.list({ source: 'shop', type: 'one', state: 'succeeded' })).events.length === 20,
      'the others of a limit of one',
    )
    await inbox.stop()
    const { events } = await inboxAgain(bench).events.list({ type: 'rare' }, { limit: 50 })
    expect(events.filter(({ state }) => state === 'succeeded').length).toBe(1)
    expect(events.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(1)
  })

  test('a stop gives the slots back at once, and so does the end of a drain', async () => {
    const limit: HandlerLimit = { concurrency: 1 }
    const store = bench.store()
    const one = bench.inbox({ processing: { lease: 60_000 } }).inbox
    one.on('shop', '*', () => {}, { limit })
    await post(one, { id: 'a' })
    expect(await one.drain()).toBe(1)
    expect(await store.grants.list({ limit: 10 })).toEqual([])

    const begun = signal()
    const two = bench.inbox({ processing: { lease: 60_000 } }).inbox
    two.on(
      'shop',
      '*',
      (_, { signal }) => {
        begun.give()
        return new Promise((_, reject) => signal.addEventListener('abort', reject))
      },
      { limit },
    )
    await post(two, { id: 'b' })
    await two.start()
    await begun.wait
    const limits = await store.grants.list({ limit: 10 })
    expect(limits).toMatchObject([{ slots: 1 }])
    const event = { source: 'shop', type: 'order.paid', reference: 'r' }
    expect(limitOn(limits, event)).toBe(limits[0])
    expect(limitOn(limits, { ...event, source: 'another' })).toBeNull()
    expect(
      limitOn(
        limits.map((one) => ({ ...one, key: 'other' })),
        event,
      ),
    ).toBeNull()
    await two.stop({ deadline: 0 })
    expect((await store.grants.list({ limit: 10 })).reduce((sum, { slots }) => sum + slots, 0)).toBe(0)
  })

  test('starts and slots that were granted before the clock of the log was set back delay nothing', async () => {
    const { inbox } = bench.inbox()
    const handled: string[] = []
    inbox.on('shop', 'a', ({ id }) => void handled.push(id), { limit: { perSecond: 20, concurrency: 1 } })
    await post(inbox, { id: 'before', type: 'a' })
    expect(await inbox.drain()).toBe(1)
    const store = bench.store()
    const name = { source: 'shop', pattern: 'a', key: '' }
    const dead = { id: randomUUID(), worker: 'dead', leaseMs: 30_000 }
    await store.grants.take(dead, [
      { ...name, slots: { wanted: 1, most: 1 }, starts: { wanted: 1, spacingMs: 50 } },
    ])
    const [prefix, hour] =
      bench.kind === 'SQLite' ? ['hookonce_', '3600000'] : [`"${bench.log.args[2]}".`, `interval '1 hour'`]
    await bench.log.sql(
      `update ${prefix}limits set next_start_at = next_start_at + ${hour};
      update ${prefix}grants set until = until + ${hour};`,
    )
    await post(inbox, { id: 'after', type: 'a' })
    await inbox.drain()
    expect(handled).toEqual(['before', 'after'])
  })

  test('a drain ends when the events whose turn is far away are released', async () => {
    const own = bench.store()
    const store = {
      ...own,
      async release(...args: Parameters<typeof own.release>) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        return own.release(...args)
      },
    }
    const { inbox } = bench.inbox({ store })
    inbox.on('shop', 'rare', () => {}, { limit: { perSecond: 0.001 } })
    await postAll(
      inbox,
      ids(2, 'rare').map((id) => ({ id, type: 'rare' })),
    )
    await inbox.drain()
    expect((await inbox.events.stats())[0]).toMatchObject({ pending: 1, processing: 0 })
  })

  test('a drain waits for its limit, and leaves events alone whose turn is far away', async () => {
    const { inbox } = bench.inbox()
    const starts: number[] = []
    inbox.on('shop', 'soon', () => void starts.push(performance.now()), { limit: { perSecond: 20 } })
    inbox.on('shop', 'rare', () => void starts.push(performance.now()), { limit: { perSecond: 0.001 } })
    await postAll(
      inbox,
      ids(5).map((id) => ({ id, type: 'soon' })),
    )
    const askedAt = performance.now()
    expect(await inbox.drain()).toBe(5)
    // Each may be late, also the first, but the last is not early.
    expect(starts.at(-1)! - askedAt).toBeGreaterThan(4 * 50 - 45)
    await postAll(
      inbox,
      ids(3, 'rare').map((id) => ({ id, type: 'rare' })),
    )
    await inbox.drain()
    expect(starts.length).toBe(6)
    const { events } = await inbox.events.list({ type: 'rare', state: 'pending' })
    expect(events.map(({ attempts }) => attempts)).toEqual([0, 0])
  })

  test('inbox.process keeps to the limit: an event that may not run now stays in the log', async () => {
    const { inbox } = bench.inbox()
    const [begun, end] = [signal(), signal()]
    inbox.on(
      'shop',
      '*',
      ({ id }) => {
        begun.give()
        return id === 'a' ? end.wait : undefined
      },
      { limit: { concurrency: 1 } },
    )
    await postAll(inbox, [{ id: 'a' }, { id: 'b' }])
    const first = inbox.process('shop', 'a')
    await begun.wait
    expect(await inbox.process('shop', 'b')).toMatchObject({ kind: 'postponed' })
    expect(await inbox.events.get(key('b'))).toMatchObject({ state: 'pending', attempts: 0 })
    end.give()
    expect(await first).toMatchObject({ kind: 'succeeded' })
    expect(await inbox.process('shop', 'b')).toMatchObject({ kind: 'succeeded' })
  })

  test('retryAfter pauses the limit for all processes, and only that of its reference', async () => {
    const handled: string[] = []
    const make = (): Inbox => {
      const { inbox } = bench.inbox({ processing: { poll: 50 } })
      inbox.on(
        'shop',
        '*',
        ({ id }) => {
          handled.push(id)
          if (id === 'a') throw retryAfter('1h')
        },
        { limit: { concurrency: 2, by: 'reference' } },
      )
      return inbox
    }
    const [one, two] = [make(), make()]
    await one.start()
    await post(one, { id: 'a', ref: 'busy' })
    await until(
      async () => ((await bench.store().grants.list({ limit: 9 }))[0]?.pausedUntil ?? 0) > Date.now(),
      'the pause is known',
    )
    await two.start()
    await postAll(two, [
      { id: 'b', ref: 'busy' },
      { id: 'c', ref: 'calm' },
    ])
    await until(() => handled.includes('c'), 'the other reference')
    await until(async () => {
      const event = await two.events.get(key('b'))
      return event?.state === 'pending' && (event.nextAttemptAt ?? 0) > Date.now() + 50 * 60_000
    }, 'it waits for the end of the pause')
    expect(handled.sort()).toEqual(['a', 'c'])
    expect((await two.events.get(key('b')))?.attempts).toBe(0)
  })

  test('order per reference holds under a limit', async () => {
    const handled: string[] = []
    const inboxes = [1, 2].map(() => {
      const { inbox } = bench.inbox({ processing: { poll: 20, retry: quickRetry } })
      inbox.on('shop', '*', ({ id }) => void handled.push(id), {
        order: 'reference',
        limit: { concurrency: 2, perSecond: 200 },
      })
      return inbox
    })
    for (const id of ids(30)) await post(inboxes[0]!, { id, ref: 'lane' })
    await Promise.all(inboxes.map((inbox) => inbox.start()))
    await until(async () => (await stateOf(inboxes[0]!, 'e29')) === 'succeeded', 'all are handled')
    expect(handled).toEqual(ids(30))
  })
})

function inboxAgain(bench: Bench): Inbox {
  return bench.inbox({ sources: { shop: shop(), calm: shop() }, processing: false }).inbox
}

describe('a limit that is not possible is an error when the handler is added:', () => {
  const made = (options: object, mode: 'inline' | 'background' = 'background', batch = false) => {
    const inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: shop({ mode }) }, log: 'silent' })
    return () =>
      batch ? inbox.onBatch('shop', '*', () => {}, options) : inbox.on('shop', '*', () => {}, options)
  }
  test.each([
    ['without a number', { limit: {} }, /limits nothing; give it `concurrency` or `perSecond`/],
    ['with an unknown key', { limit: { by: 'customer', concurrency: 1 } }, /by/],
    ['below one', { limit: { concurrency: 0 } }, /concurrency/],
    ['of no rate', { limit: { perSecond: 0 } }, /perSecond/],
    ['by reference with share', { limit: { concurrency: 1, by: 'reference' }, share: 5 }, /without `share`/],
    ['a rate with share', { limit: { perSecond: 1 }, share: 5 }, /leave one of them out/],
  ])('%s', (_, options, message) => {
    expect(made(options)).toThrow(message)
  })
  test('by reference with onBatch', () => {
    expect(made({ limit: { concurrency: 1, by: 'reference' } }, 'background', true)).toThrow(/cannot share/)
  })
  test('in inline mode; a consumer of the source may have one', () => {
    expect(made({ limit: { concurrency: 1 } }, 'inline')).toThrow(
      /cannot wait; give the handler a `consumer`/,
    )
    expect(made({ limit: { concurrency: 1 }, consumer: 'mail' }, 'inline')).not.toThrow()
  })
})
