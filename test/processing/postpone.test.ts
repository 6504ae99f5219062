/** `postpone`: the handler asks for another time, and the attempt does not count. */
import { postpone } from 'hookonce'
import { expect, it } from 'vitest'
import { onBothLogs, post, shop, stateOf, until } from '../support/processing.js'

onBothLogs((bench) => {
  it('postponed more often than it has attempts, an event still gets all of them', async () => {
    const { inbox } = bench.inbox({
      processing: { leaseMs: 5_000, pollMs: 20, retry: { maxAttempts: 2, firstMs: 1, maxMs: 1 } },
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
    const written = await inbox.events.attempts({ source: 'shop', eventId: 'e1' })
    expect(written.map((one) => one.outcome)).toEqual(['failed', 'succeeded'])
  })

  it('what it wrote through ctx.tx before is undone, and it is not due before its time', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      throw postpone(3_600_000)
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.drain()).toBe(1)
    expect(await inbox.drain()).toBe(0)
    expect(await bench.log.effects()).toEqual([])
    expect(await inbox.events.get({ source: 'shop', eventId: 'e1' })).toMatchObject({
      state: 'pending',
      attempts: 0,
    })
  })

  it('in inline mode the sender hears that it was received', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) } })
    inbox.on('shop', '*', async () => {
      throw postpone(60_000)
    })
    const receipt = await post(inbox, { id: 'e1' })
    expect(receipt).toMatchObject({ httpStatus: 200, status: 'already_received' })
  })
})
