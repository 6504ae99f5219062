/** Calls on `ctx` that the handler does not await: they count all the same, and never end the process. */

import type { PostgresTx } from 'hookonce/postgres'
import type { SqliteTx } from 'hookonce/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { onBothLogs, post, signal, stateOf, until } from '../support/processing.js'
import { OVERTIME_MS, shortened } from '../support/timers.js'

const key = { source: 'shop', id: 'e1' }
const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
})

function broken(kind: string, tx: unknown): Promise<unknown> {
  return kind === 'SQLite'
    ? (tx as SqliteTx).run('insert into no_such_table values (1)')
    : (tx as PostgresTx).query('insert into no_such_table values (1)')
}

onBothLogs((bench) => {
  shortened(OVERTIME_MS)

  test('a statement that fails and is not awaited fails its attempt, and nothing of it is kept', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      void broken(bench.kind, ctx.tx)
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed' })
    expect((await inbox.events.get(key))?.reason).toMatch(/no_such_table/)
    expect(await bench.log.effects()).toEqual([])
    const said = lines.filter((line) => line.msg.includes('was not awaited'))
    expect(said).toMatchObject([{ level: 'error', source: 'shop', eventId: 'e1' }])
    expect(unhandled).toEqual([])
  })

  test('a write that is not awaited is in the transaction that commits', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', (event, ctx) => {
      void bench.write(ctx.tx, event.id)
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    expect(await bench.log.effects()).toEqual(['e1'])
  })

  test('an effect that is not awaited is waited for, and its failure fails the attempt', async () => {
    const { inbox } = bench.inbox()
    const calls: number[] = []
    inbox.on('shop', '*', (_event, ctx) => {
      void ctx.once('mail', async () => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        calls.push(ctx.attempt)
        if (ctx.attempt === 1) throw new Error('mail server down')
      })
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', error: 'mail server down' })
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    expect(calls).toEqual([1, 2])
    expect(unhandled).toEqual([])
  })

  test('a failure that the handler takes up itself, also late, is its own affair', async () => {
    const { inbox, lines } = bench.inbox()
    const taken: unknown[] = []
    inbox.on('shop', '*', async (_event, ctx) => {
      const late = ctx.once('a', () => Promise.reject(new Error('a')))
      await ctx.once('b', () => Promise.reject(new Error('b'))).catch((error) => taken.push(error.message))
      await new Promise((resolve) => setTimeout(resolve, 20))
      await late.then(null, (error) => taken.push(error.message))
      const both = [ctx.once('c', () => Promise.reject(new Error('c'))), ctx.once('d', () => 'd')]
      taken.push((await Promise.allSettled(both)).map((one) => one.status).join())
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    expect(taken).toEqual(['b', 'a', 'rejected,fulfilled'])
    expect(lines.filter((line) => line.level === 'error')).toEqual([])
    expect(unhandled).toEqual([])
  })

  test('a call after the end of the attempt is reported with the event, and changes nothing', async () => {
    const { inbox, lines } = bench.inbox()
    const over = signal()
    const called = signal()
    inbox.on('shop', '*', (_event, ctx) => {
      void over.wait.then(() => {
        void broken(bench.kind, ctx.tx)
        called.give()
      })
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    over.give()
    await called.wait
    const said = () => lines.find((line) => line.msg.includes('was not awaited'))
    await until(() => said() !== undefined, 'it is reported')
    expect(said()).toMatchObject({ level: 'error', eventId: 'e1', code: 'TRANSACTION_CLOSED' })
    expect(unhandled).toEqual([])
    expect(await stateOf(inbox, 'e1')).toBe('succeeded')
  })

  test('a call that never ends is bounded by the time of the handler', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', (_event, ctx) => void ctx.once('never', () => new Promise(() => {})), {
      timeout: 100,
      retry: { maxAttempts: 1 },
    })
    await post(inbox, { id: 'e1' })
    expect(await inbox.process('shop', 'e1')).toMatchObject({
      kind: 'failed',
      error: expect.stringContaining('the handler took longer than 100 ms'),
    })
  })
})
