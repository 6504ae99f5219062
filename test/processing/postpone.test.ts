/** `postpone`: the handler asks for another time, and the attempt does not count. */
import { postpone, retryAfter } from 'hookonce'
import { expect, test } from 'vitest'
import { onBothLogs, post, stateOf, until } from '../support/processing.js'

onBothLogs((bench) => {
  test('postponed more often than it has attempts, an event still gets all of them', async () => {
    const { inbox } = bench.inbox({
      processing: { lease: 5_000, poll: 20, retry: { maxAttempts: 2, firstDelay: 1, maxDelay: 1 } },
    })
    const attempts: number[] = []
    inbox.on('shop', '*', async (_event, ctx) => {
      attempts.push(ctx.attempt)
      if (attempts.length <= 5) throw postpone(1)
      if (attempts.length === 6) throw new Error('failed for real')
    })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeded')
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1, 2])
    const written = await inbox.events.attempts({ source: 'shop', id: 'e1' })
    expect(written.map((one) => one.outcome)).toEqual(['failed', 'succeeded'])
  })

  test('what it wrote through ctx.tx before is undone, and it is not due before its time', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      throw postpone(3_600_000)
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.drain()).toBe(1)
    expect(await inbox.drain()).toBe(0)
    expect(await bench.log.effects()).toEqual([])
    expect(await inbox.events.get({ source: 'shop', id: 'e1' })).toMatchObject({
      state: 'pending',
      attempts: 0,
    })
  })

  test('a delay of any length is written: longer than any lease, and a year at most', async () => {
    const { inbox } = bench.inbox()
    const day = 86_400_000
    const waits: Record<string, () => Error> = {
      month: () => postpone(30 * day),
      century: () => postpone(36_500 * day),
      retriedMonth: () => retryAfter(30 * day),
      retriedCentury: () => retryAfter(36_500 * day),
      changed: () => Object.assign(postpone(1), { delayMs: Number.POSITIVE_INFINITY }),
    }
    inbox.on('shop', '*', (event) => {
      throw waits[event.id]!()
    })
    const before = Date.now()
    for (const id of Object.keys(waits)) {
      await post(inbox, { id })
      await inbox.process('shop', id)
      const event = await inbox.events.get({ source: 'shop', id: id })
      const days = ((event?.nextAttemptAt ?? 0) - before) / day
      expect([id, Math.round(days)]).toEqual([id, id.endsWith('onth') ? 30 : 366])
      expect(event?.state).toBe(id.startsWith('retried') ? 'failed' : 'pending')
    }
  })

  test('a delay that is no time is a failure of the handler like any other', async () => {
    const { inbox } = bench.inbox()
    const delays = [Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as never, undefined as never]
    inbox.on('shop', '*', (event) => {
      const delay = delays[Number(event.id.slice(1))]!
      throw event.id.startsWith('p') ? postpone(delay) : retryAfter(delay)
    })
    for (const id of delays.flatMap((_, i) => [`p${i}`, `r${i}`])) {
      await post(inbox, { id })
      expect(await inbox.process('shop', id)).toMatchObject({ kind: 'failed' })
      const reason = (await inbox.events.get({ source: 'shop', id: id }))?.reason
      expect(reason).toMatch(/is not a duration such as/)
    }
  })

  test('a retry policy of any numbers gives a wait that can be written', async () => {
    const { inbox } = bench.inbox()
    const policies: Record<string, object> = {
      huge: { firstDelay: '366d', factor: 1e300, maxDelay: '366d' },
      nothing: { firstDelay: 0, factor: 1e300, maxDelay: 1, maxAttempts: 100 },
    }
    for (const [id, retry] of Object.entries(policies)) {
      const fail = () => {
        throw new Error('no')
      }
      inbox.on('shop', id, fail, { retry })
      await post(inbox, { id, type: id })
      for (let i = 0; i < 4; i++) {
        expect(await inbox.process('shop', id)).toMatchObject({ kind: 'failed', error: 'no' })
      }
    }
  })
})
