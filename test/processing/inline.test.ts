/** Inline mode: the answer says how handling went. And `rearm`, its counterpart in background mode. */

import type { Delivery, Inbox, Store } from 'hookonce'
import { HookonceError, lru, permanent, postpone } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import {
  expireLeases,
  ids,
  onBothLogs,
  onLog,
  post,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'

const key = (eventId: string) => ({ source: 'shop', id: eventId })
const answer = async (inbox: Inbox, id: string) => {
  const { httpStatus, status, duplicate, body } = await post(inbox, { id })
  expect(JSON.parse(body)).toMatchObject({ status })
  return [httpStatus, status, duplicate]
}

/** A delivery of several events: its id is a list. */
const eachOf = ({ body }: Delivery) => {
  const { id, type } = JSON.parse(Buffer.from(body).toString())
  return String(id)
    .split(',')
    .map((one) => ({ id: one, type, reference: null, payload: null, content: null }))
}

onBothLogs((bench) => {
  const sources = { shop: shop({ mode: 'inline' }) }

  describe('inline', () => {
    test('an event is handled before its delivery is answered, and a duplicate is told so', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
      expect(await answer(inbox, 'e1')).toEqual([200, 'processed', false])
      expect(await bench.log.effects()).toEqual(['e1'])
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect(await answer(inbox, 'e1')).toEqual([200, 'already_processed', true])
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('a failure answers 500, and the next delivery runs the event again at once, also when it was a dead letter', async () => {
      const { inbox } = bench.inbox({ sources, processing: { lease: 5_000 } })
      const attempts: number[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        attempts.push(ctx.attempt)
        await bench.write(ctx.tx, event.id)
        if (attempts.length === 1) throw new Error('later')
        if (attempts.length === 2) throw permanent('never')
      })
      expect(await answer(inbox, 'e1')).toEqual([500, 'failed', false])
      // Its own wait is a second and more; the sender's retry does not wait for it.
      expect(await stateOf(inbox, 'e1')).toBe('failed')
      expect(await answer(inbox, 'e1')).toEqual([500, 'failed', true])
      expect((await inbox.events.get(key('e1')))?.nextAttemptAt).toBeNull()
      expect(await answer(inbox, 'e1')).toEqual([200, 'processed', true])
      expect(await answer(inbox, 'e1')).toEqual([200, 'already_processed', true])
      expect(attempts).toEqual([1, 2, 1])
      expect(await bench.log.effects()).toEqual(['e1'])
      const audit = await bench.rows('select actor, verb, event_id from log.audit')
      expect(audit).toEqual([expect.objectContaining({ actor: 'sender', verb: 'retry', event_id: 'e1' })])
    })

    test('an event that a worker without its handler has put on the review list is handled by the next delivery', async () => {
      const { inbox } = bench.inbox({ sources })
      let fails = true
      inbox.on('shop', 'order.*', async (event, ctx) => {
        if (fails) throw new Error('later')
        await bench.write(ctx.tx, event.id)
      })
      const worker = bench.inbox({ sources, processing: { poll: 20 } }).inbox
      worker.on('shop', 'other', () => {})
      const send = async () => (await post(inbox, { id: 'e1', type: 'order.paid' })).status
      expect(await send()).toBe('failed')
      await inbox.retry(key('e1'))
      await worker.start()
      await until(async () => (await stateOf(inbox, 'e1')) === 'ignored', 'the worker has given it up')
      fails = false
      // The worker may be faster than the request again: the sender is then told to come back.
      const answers: string[] = []
      await until(
        async () => answers.push(await send()) > 0 && answers.at(-1) === 'processed',
        'it is handled',
      )
      expect(answers.slice(0, -1).filter((status) => status !== 'unavailable')).toEqual([])
      expect(await send()).toBe('already_processed')
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('a delivery of an unhandled event that now fails is not acknowledged, whatever the caches of processes say', async () => {
      const options = { sources, processing: { lease: 5_000 } }
      const { inbox } = bench.inbox({ ...options, seen: lru() })
      const second = bench.inbox({ ...options, seen: lru() }).inbox
      for (const one of [inbox, second]) one.on('shop', 'other', () => {})
      expect(await answer(inbox, 'e1')).toEqual([200, 'processed', false])
      expect(await answer(second, 'e1')).toEqual([200, 'already_processed', true])
      let runs = 0
      for (const one of [inbox, second])
        one.on('shop', '*', () => {
          if (++runs < 4) throw new Error('later')
        })
      for (const one of [inbox, inbox, second]) expect(await answer(one, 'e1')).toEqual([500, 'failed', true])
      expect(await answer(second, 'e1')).toEqual([200, 'processed', true])
      expect(await answer(inbox, 'e1')).toEqual([200, 'already_processed', true])
      expect(runs).toBe(4)
    })

    test('an event that is postponed is not acknowledged because of a worker that handles other types', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', 'order.*', () => {
        throw postpone('1h')
      })
      const worker = bench.inbox({ sources }).inbox
      worker.on('shop', 'other', () => {})
      await worker.start()
      expect((await post(inbox, { id: 'e1', type: 'order.paid' })).httpStatus).toBe(503)
    })

    test('32 deliveries of one event at once run the handler once and are all told that it is done', async () => {
      const { inbox } = bench.inbox({ sources })
      const other = bench.inbox({ sources }).inbox
      let runs = 0
      for (const one of [inbox, other]) {
        one.on('shop', '*', async (event, ctx) => {
          runs++
          await bench.write(ctx.tx, event.id)
          await new Promise((resolve) => setTimeout(resolve, 30))
        })
      }
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, i) => answer(i % 2 ? inbox : other, 'e1')),
      )
      expect(runs).toBe(1)
      expect(answers.filter(([httpStatus]) => httpStatus !== 200)).toEqual([])
      expect(answers.filter(([, status]) => status === 'processed')).toHaveLength(1)
      expect(answers.filter(([, status]) => status === 'already_processed')).toHaveLength(31)
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('deliveries of one dead letter at once give it one new start and one run', async () => {
      const { inbox } = bench.inbox({ sources })
      let runs = 0
      inbox.on('shop', '*', async () => {
        runs++
        await new Promise((resolve) => setTimeout(resolve, 20))
        if (runs === 1) throw permanent('first')
      })
      expect(await answer(inbox, 'e1')).toEqual([500, 'failed', false])
      const answers = await Promise.all(Array.from({ length: 8 }, () => answer(inbox, 'e1')))
      expect(runs).toBe(2)
      expect(answers.filter(([httpStatus]) => httpStatus !== 200)).toEqual([])
    })

    test('an outcome that could not be written is not acknowledged: the sender comes back and it is handled', async () => {
      const store = bench.store()
      let broken = true
      const settle: Store['settle'] = async (settlements) => {
        if (broken) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
        return store.settle(settlements)
      }
      const { inbox } = bench.inbox({ sources, store: { ...store, settle } })
      const runs: string[] = []
      inbox.on('shop', '*', (event) => void runs.push(event.id))
      const receipt = await post(inbox, { id: 'e1' })
      expect(receipt).toMatchObject({ httpStatus: 503, status: 'unavailable', reason: 'outcome_unknown' })
      expect(receipt.headers).toHaveProperty('retry-after')
      await until(async () => {
        await expireLeases(bench)
        return (await inbox.process('shop', 'e1').catch(() => 'unwritten')) === 'unwritten'
      }, 'a caller with a queue of its own hears of it too')
      broken = false
      await until(async () => {
        await expireLeases(bench)
        return (await post(inbox, { id: 'e1' })).httpStatus === 200
      }, 'it is handled')
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect(runs).toEqual(['e1', 'e1', 'e1'])
    })

    test('a transaction whose end could not be written is not acknowledged either', async () => {
      const store = bench.store()
      const broken = async () => {
        throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
      }
      const transaction: Store['transaction'] = async () => ({
        ...(await store.transaction()),
        finish: broken,
      })
      const { inbox } = bench.inbox({ sources, store: { ...store, transaction, settle: broken } })
      inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id))
      expect(await answer(inbox, 'e1')).toEqual([503, 'unavailable', false])
      expect(await bench.log.effects()).toEqual([])
    })

    test('a duplicate of an event that takes longer than a sender should wait is told to come back where no worker runs', async () => {
      const { inbox } = bench.inbox({ sources })
      const started = signal()
      const end = signal()
      inbox.on('shop', '*', async () => {
        started.give()
        await end.wait
      })
      const first = answer(inbox, 'e1')
      await started.wait
      expect(await answer(inbox, 'e1')).toEqual([503, 'unavailable', true])
      end.give()
      expect(await first).toEqual([200, 'processed', false])
    })

    test('a duplicate of an event that takes longer than a sender should wait is told already_received', async () => {
      const { inbox } = bench.inbox({ sources })
      await inbox.start()
      const started = signal()
      const end = signal()
      inbox.on('shop', '*', async () => {
        started.give()
        await end.wait
      })
      const first = answer(inbox, 'e1')
      await started.wait
      expect(await answer(inbox, 'e1')).toEqual([200, 'already_received', true])
      end.give()
      expect((await first)[0]).toBe(200)
    })

    test('a handler that postpones is not acknowledged where no worker runs, and the next delivery runs the event', async () => {
      const { inbox } = bench.inbox({ sources })
      let ready = false
      inbox.on('shop', '*', async (event, ctx) => {
        if (!ready) throw postpone(60_000)
        await bench.write(ctx.tx, event.id)
      })
      const receipt = await post(inbox, { id: 'e1' })
      expect(receipt).toMatchObject({ httpStatus: 503, status: 'unavailable', reason: 'not_handled' })
      expect(receipt.headers).toHaveProperty('retry-after')
      expect(await answer(inbox, 'e1')).toEqual([503, 'unavailable', true])
      ready = true
      expect(await answer(inbox, 'e1')).toEqual([200, 'processed', true])
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('a handler that postpones is acknowledged where a worker runs, and the worker runs the event', async () => {
      const { inbox } = bench.inbox({ sources })
      let runs = 0
      inbox.on('shop', '*', () => {
        if (++runs === 1) throw postpone(10)
      })
      await inbox.start()
      // The worker may take the event before the request does, and the answer is then that it was processed.
      const [httpStatus] = await answer(inbox, 'e1')
      expect(httpStatus).toBe(200)
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'the worker runs it')
      expect(runs).toBe(2)
    })

    test('one delivery of several events is not acknowledged while one of them waits', async () => {
      const several = { shop: { ...shop({ mode: 'inline' }), identify: eachOf } }
      const { inbox } = bench.inbox({ sources: several })
      let ready = false
      const runs: string[] = []
      inbox.on('shop', '*', (event) => {
        if (event.id === 'b' && !ready) throw postpone(60_000)
        runs.push(event.id)
      })
      const send = async () => (await post(inbox, { id: 'a,b' })).httpStatus
      expect(await send()).toBe(503)
      ready = true
      expect(await send()).toBe(200)
      expect(runs).toEqual(['a', 'b'])
    })

    test('an event behind an unfinished one of its reference is not acknowledged where no worker runs', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline', order: 'reference' }) } })
      let ready = false
      const runs: string[] = []
      inbox.on('shop', '*', (event) => {
        if (!ready) throw postpone(60_000)
        runs.push(event.id)
      })
      const send = async (id: string) => (await post(inbox, { id, ref: 'r1' })).httpStatus
      expect(await send('e1')).toBe(503)
      expect(await send('e2')).toBe(503)
      ready = true
      expect(await send('e1')).toBe(200)
      expect(await send('e2')).toBe(200)
      expect(runs).toEqual(['e1', 'e2'])
    })

    test.each([
      ['the source', undefined],
      ['its handler', '*'],
    ])(
      'an event runs no attempt while %s is paused, and is not acknowledged where no worker runs',
      async (_, type) => {
        const { inbox } = bench.inbox({ sources })
        const runs: string[] = []
        inbox.on('shop', '*', (event) => void runs.push(event.id))
        await inbox.pause('shop', type)
        expect(await answer(inbox, 'e1')).toEqual([503, 'unavailable', false])
        expect(runs).toEqual([])
        await inbox.resume('shop', type)
        expect(await answer(inbox, 'e1')).toEqual([200, 'processed', true])
        expect(runs).toEqual(['e1'])
      },
    )

    test('a delivery with rejected content beside a new event is answered for the new event', async () => {
      const store = bench.store()
      const record: Store['record'] = async (deliveries) => {
        const [first] = deliveries
        const [verdicts] = await store.record([{ ...first!, events: [first!.events[0]!] }])
        return [[...verdicts!, { status: 'replayed' as const }]]
      }
      const several = { shop: { ...shop({ mode: 'inline' }), identify: eachOf } }
      const { inbox } = bench.inbox({ sources: several, store: { ...store, record } })
      inbox.on('shop', '*', () => {})
      expect(await post(inbox, { id: 'a,b' })).toMatchObject({ httpStatus: 200, status: 'processed' })
    })

    test('an event nobody handles is answered with 200 and is on the review list', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', 'other', () => {})
      const [httpStatus] = await answer(inbox, 'e1')
      expect(httpStatus).toBe(200)
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'ignored', reason: 'unhandled' })
    })

    test('a worker that runs beside it takes nothing twice', async () => {
      const { inbox } = bench.inbox({ sources })
      const runs: string[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        runs.push(event.id)
        await bench.write(ctx.tx, event.id)
      })
      await inbox.start()
      const sent = Array.from({ length: 20 }, (_, i) => `e${i}`)
      const answers = await Promise.all(sent.flatMap((id) => [answer(inbox, id), answer(inbox, id)]))
      expect(answers.filter(([httpStatus]) => httpStatus !== 200)).toEqual([])
      expect(runs.sort()).toEqual(sent.sort())
      expect((await bench.log.effects()).sort()).toEqual(sent)
    })
  })

  describe('rearm in background mode', () => {
    test('a redelivery of a dead letter gives it a new start, and of anything else does not', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop({ rearm: true }) } })
      let runs = 0
      inbox.on('shop', '*', () => {
        runs++
        if (runs === 1) throw permanent('first')
      })
      await post(inbox, { id: 'e1' })
      await inbox.drain()
      expect((await inbox.events.stats())[0]?.dead).toBe(1)
      expect((await post(inbox, { id: 'e1' })).status).toBe('already_received')
      await inbox.drain()
      expect(runs).toBe(2)
      expect((await post(inbox, { id: 'e1' })).status).toBe('already_processed')
      await inbox.drain()
      expect(runs).toBe(2)
    })

    test('a running worker takes the rearmed event without waiting for its next look', async () => {
      const { inbox } = bench.inbox({
        sources: { shop: shop({ rearm: true }) },
        processing: { lease: 5_000, poll: 60_000 },
      })
      let runs = 0
      inbox.on('shop', '*', () => {
        runs++
        if (runs === 1) throw permanent('first')
      })
      await inbox.start()
      await post(inbox, { id: 'e1' })
      await until(async () => (await inbox.events.stats())[0]?.dead === 1, 'it is dead')
      await post(inbox, { id: 'e1' })
      await until(() => runs === 2, 'it runs again')
    })

    test('a redelivery while the event is processing changes nothing', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop({ rearm: true }) } })
      const started = signal()
      const end = signal()
      let runs = 0
      inbox.on('shop', '*', async () => {
        runs++
        started.give()
        await end.wait
      })
      await inbox.start()
      await post(inbox, { id: 'e1' })
      await started.wait
      expect((await post(inbox, { id: 'e1' })).status).toBe('already_received')
      end.give()
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it is done')
      expect(runs).toBe(1)
    })

    test('without the option a dead letter stays one', async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', () => {
        throw permanent('so')
      })
      await post(inbox, { id: 'e1' })
      await inbox.drain()
      await post(inbox, { id: 'e1' })
      expect(await inbox.drain()).toBe(0)
      expect((await inbox.events.stats())[0]?.dead).toBe(1)
    })
  })
})

onLog('PostgreSQL', (bench) => {
  test('a stop while the outcome waits for a connection releases the event: the attempt does not count', async () => {
    const [, url, schema] = bench.log.args
    const store = postgres({ url: url!, schema: schema!, maxTransactions: 1 })
    const { inbox } = bench.inbox({ store, ownsStore: false, processing: { retry: { maxAttempts: 1 } } })
    const [held, end, returned] = [signal(), signal(), signal()]
    inbox.on('shop', 'holds', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      held.give()
      await end.wait
    })
    // Its watermark is written in a transaction, for which there is no connection.
    inbox.on('shop', 'waits', () => returned.give(), { stale: () => 1 })
    await inbox.start()
    await post(inbox, { id: 'e1', type: 'holds' })
    await held.wait
    await post(inbox, { id: 'e2', type: 'waits', ref: 'r' })
    await returned.wait
    const stopping = inbox.stop({ deadline: 200 })
    const reader = bench.store()
    await until(async () => (await reader.get(key('e2')))?.state === 'pending', 'it is released')
    end.give()
    await stopping
    expect(await store.get(key('e2'))).toMatchObject({ state: 'pending', attempts: 0 })
    await store.close()
  })

  test('deliveries that find every transaction in use are not acknowledged where no worker runs, and run when they come back', async () => {
    const [, url, schema] = bench.log.args
    const store = postgres({ url: url!, schema: schema!, maxTransactions: 2 })
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) }, store })
    const end = signal()
    const runs: string[] = []
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      runs.push(event.id)
      await end.wait
    })
    const sent = ids(12)
    const deliveries = sent.map((id) => answer(inbox, id))
    await until(
      () => wholeInbox(inbox).counters.of('shop').attempts.postponed === 10,
      'ten found no transaction',
    )
    end.give()
    const answers = await Promise.all(deliveries)
    expect(answers.filter(([httpStatus]) => httpStatus === 200)).toHaveLength(2)
    expect(answers.filter(([httpStatus]) => httpStatus === 503)).toHaveLength(10)
    for (const [i, [httpStatus]] of answers.entries())
      if (httpStatus === 503) expect(await answer(inbox, sent[i]!)).toEqual([200, 'processed', true])
    expect(runs.sort()).toEqual(sent.sort())
    expect((await bench.log.effects()).sort()).toEqual(sent)
  })
})
