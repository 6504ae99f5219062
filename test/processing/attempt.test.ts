/** What one attempt comes to: every outcome, the transaction, effects, keys and error texts, on both stores. */

import { permanent, retryAfter, type StandardSchema } from 'hookonce'
import type { PostgresTx } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { limits } from '#dist/model.js'
import { startChild } from '../support/child.js'
import {
  aborted,
  expireLeases,
  ids,
  onBothLogs,
  onLog,
  post,
  postAll,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'
import { OVERTIME_MS, shortened } from '../support/timers.js'

const key = (eventId: string, source = 'shop') => ({ source, id: eventId })

onBothLogs((bench) => {
  shortened(OVERTIME_MS)

  describe('outcomes', () => {
    test('a handler that returns commits its writes together with succeeded', async () => {
      const { inbox } = bench.inbox()
      const seen: unknown[] = []
      inbox.on('shop', 'order.paid', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        // Read from outside, before the commit: neither the write nor the outcome is there yet.
        if (bench.kind === 'PostgreSQL') seen.push(await bench.log.effects(), await stateOf(inbox, event.id))
      })
      await postAll(inbox, [{ id: 'e1' }])
      expect(await inbox.drain()).toBe(1)
      expect(await bench.log.effects()).toEqual(['e1'])
      if (bench.kind === 'PostgreSQL') expect(seen).toEqual([[], 'processing'])
      const event = await inbox.events.get(key('e1'))
      expect(event).toMatchObject({ state: 'succeeded', attempts: 1, run: 1, reason: null })
      expect(event?.processedAt).toBeTypeOf('number')
      expect(await inbox.events.attempts(key('e1'))).toMatchObject([{ attempt: 1, outcome: 'succeeded' }])
      expect(await inbox.drain()).toBe(0)
    })

    test('a handler that throws has its writes rolled back and is tried again after a wait that grows', async () => {
      const { inbox } = bench.inbox()
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          await bench.write(ctx.tx, event.id)
          throw new Error('the card machine is on fire')
        },
        { retry: { firstDelay: 60_000, factor: 4, maxDelay: 200_000, maxAttempts: 4 } },
      )
      await postAll(inbox, [{ id: 'e1' }])
      const waits: number[] = []
      for (let attempt = 1; attempt <= 3; attempt++) {
        const before = Date.now()
        expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed' })
        const event = await inbox.events.get(key('e1'))
        expect(event).toMatchObject({
          state: 'failed',
          reason: 'the card machine is on fire',
          attempts: attempt,
        })
        waits.push((event?.nextAttemptAt ?? 0) - before)
        expect(await inbox.drain()).toBe(0)
      }
      // Between half of the wait and all of it: 60 s, 240 s cut to 200 s.
      const bounds = [60_000, 200_000, 200_000]
      for (const [i, full] of bounds.entries()) {
        expect(waits[i]).toBeGreaterThanOrEqual(full / 2 - 50)
        expect(waits[i]).toBeLessThanOrEqual(full + 20_000)
      }
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', retryInMs: null })
      expect((await inbox.events.list({ state: 'failed', dead: true })).events.map((e) => e.id)).toEqual([
        'e1',
      ])
      expect(await inbox.process('shop', 'e1')).toBeNull()
      expect(await bench.log.effects()).toEqual([])
      expect((await inbox.events.attempts(key('e1'))).map((one) => one.outcome)).toEqual(
        Array.from({ length: 4 }, () => 'failed'),
      )
    })

    test('a failed event is tried again by itself when its wait is over, and its effect is there once', async () => {
      const { inbox } = bench.inbox()
      const attempts: number[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        attempts.push(ctx.attempt)
        await bench.write(ctx.tx, event.id)
        if (ctx.attempt < 3) throw new Error('not yet')
      })
      await inbox.start()
      await postAll(inbox, [{ id: 'e1' }])
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it succeeds')
      expect(attempts).toEqual([1, 2, 3])
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('a permanent failure goes to the dead letters at its first attempt', async () => {
      const { inbox, lines } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        throw permanent(new Error('no such customer'))
      })
      await postAll(inbox, [{ id: 'e1' }])
      expect(await inbox.drain()).toBe(1)
      expect(await inbox.events.get(key('e1'))).toMatchObject({
        state: 'failed',
        nextAttemptAt: null,
        reason: 'no such customer',
      })
      expect((await inbox.events.stats())[0]).toMatchObject({ dead: 1, retrying: 0 })
      expect(lines.some((line) => line.msg.includes('dead letter'))).toBe(true)
      expect(await bench.log.effects()).toEqual([])
    })

    test('retryAfter decides the wait whatever the policy says, and still counts as an attempt', async () => {
      const { inbox } = bench.inbox()
      inbox.on(
        'shop',
        '*',
        () => {
          throw retryAfter(3_600_000, 'rate limited')
        },
        { retry: { firstDelay: 1, maxDelay: 1, maxAttempts: 2 } },
      )
      await postAll(inbox, [{ id: 'e1' }])
      const before = Date.now()
      await inbox.drain()
      const event = await inbox.events.get(key('e1'))
      expect(event).toMatchObject({ state: 'failed', reason: 'rate limited', attempts: 1 })
      expect((event?.nextAttemptAt ?? 0) - before).toBeGreaterThan(3_590_000)
      expect((event?.nextAttemptAt ?? 0) - before).toBeLessThan(3_620_000)
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', retryInMs: null })
      expect(() => retryAfter(Number.NaN)).toThrow(RangeError)
    })

    test('ignore(reason) ends the event as ignored, with what it wrote before', async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        ctx.ignore('a test order')
      })
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.drain()
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'ignored', reason: 'a test order' })
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('a reason or an error of any length and letters is cut to what the log takes, and fails no neighbour', async () => {
      const { inbox, lines } = bench.inbox()
      inbox.on('shop', '*', (event, ctx) => {
        if (event.id === 'long') ctx.ignore('€'.repeat(5_000))
        if (event.id === 'odd') ctx.ignore(`${'a'.repeat(499)}\u{1F600}\0 tail`)
        if (event.id === 'error') throw new Error(`${'€'.repeat(20_000)}\ud800\0`)
        if (event.id === 'nothing') throw undefined
        if (event.id === 'strange') throw Object.assign(new Error(), { message: 42 })
        if (event.id === 'bare') throw Object.create(null)
      })
      const odd = ['long', 'odd', 'error', 'nothing', 'strange', 'bare']
      await postAll(
        inbox,
        [...odd, ...ids(5)].map((id) => ({ id })),
      )
      await inbox.drain()
      for (const id of ids(5)) expect([id, await stateOf(inbox, id)]).toEqual([id, 'succeeded'])
      for (const id of odd) {
        const event = await inbox.events.get(key(id))
        expect([id, event?.state]).toEqual([id, id === 'long' || id === 'odd' ? 'ignored' : 'failed'])
        expect(Buffer.byteLength(event?.reason ?? '')).toBeLessThanOrEqual(limits.errorBytes)
        expect(event?.reason?.length).toBeGreaterThan(0)
      }
      expect(lines.filter((line) => line.level === 'error')).toEqual([])
    })
  })

  describe('which handler', () => {
    test('an event nobody handles is ignored as unhandled, and one replay runs them when a handler is there', async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', 'order.*', () => {})
      await postAll(inbox, [
        { id: 'known', type: 'order.paid' },
        ...ids(3).map((id) => ({ id, type: 'refund.made' })),
      ])
      await inbox.drain()
      const review = { state: 'ignored', reason: 'unhandled' } as const
      expect((await inbox.events.list(review)).events.map((event) => event.id).sort()).toEqual(ids(3))
      const handled: string[] = []
      inbox.on('shop', 'refund.made', (event) => void handled.push(event.id))
      expect(await inbox.replay(review, { dryRun: true })).toMatchObject({ matched: 3, done: 3 })
      expect(await inbox.replay(review, { actor: 'ada', note: 'handler added' })).toMatchObject({ done: 3 })
      await inbox.drain()
      expect(handled.sort()).toEqual(ids(3))
      expect((await inbox.events.list(review)).events).toEqual([])
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 4, ignored: 0 })
    })

    test('the most specific handler is called, in whatever order they were registered', async () => {
      const { inbox } = bench.inbox()
      const calls: string[] = []
      for (const pattern of ['*', 'order.*', 'order.paid', 'order.p*', '*.paid']) {
        inbox.on('shop', pattern, (event) => void calls.push(`${event.id} ${pattern}`))
      }
      const types = ['order.paid', 'order.placed', 'order.sent', 'bill.paid', 'other']
      await postAll(
        inbox,
        types.map((type) => ({ id: type, type })),
      )
      await inbox.drain()
      expect(calls.sort()).toEqual([
        'bill.paid *.paid',
        'order.paid order.paid',
        'order.placed order.p*',
        'order.sent order.*',
        'other *',
      ])
    })

    test('two handlers for one pattern, an unknown source and an empty type are errors', () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', 'order.*', () => {})
      expect(() => inbox.on('shop', 'order.*', () => {})).toThrow(
        /"order\.\*" of source "shop" is already registered/,
      )
      expect(() => inbox.onBatch('shop', 'order.*', () => {})).toThrow(
        /"order\.\*" of source "shop" is already registered/,
      )
      expect(() => inbox.on('shoop', 'order.*', () => {})).toThrow(/no source "shoop"/)
      expect(() => inbox.on('shop', '', () => {})).toThrow(/empty/)
      expect(() => inbox.on('shop', 'x', 'y' as never)).toThrow(/"x" of source "shop" must be a function/)
      expect(() => inbox.onBatch('shop', 'x', undefined as never)).toThrow(/must be a function/)
      expect(() => inbox.on('shop', 'x', () => {}, { retry: { maxAttempts: 0 } })).toThrow(/maxAttempts/)
    })
  })

  describe('the payload', () => {
    const amountSchema: StandardSchema<{ cents: number }> = {
      '~standard': {
        validate(value) {
          const amount = (value as { amount?: unknown }).amount
          return typeof amount === 'string'
            ? { value: { cents: Math.round(Number(amount) * 100) } }
            : { issues: [{ message: 'expected text', path: ['amount', { key: 'value' }] }] }
        },
      },
    }

    test('a schema hands the handler what it made of the payload', async () => {
      const { inbox } = bench.inbox()
      const cents: number[] = []
      inbox.on('shop', '*', (event) => void cents.push(event.payload.cents), { schema: amountSchema })
      await postAll(inbox, [{ id: 'e1', amount: '12.50' }])
      await inbox.drain()
      expect(cents).toEqual([1_250])
    })

    test('an event keeps all its fields when it is spread or written as JSON, with a schema and without', async () => {
      const { inbox } = bench.inbox()
      const seen: Record<string, unknown>[] = []
      const note = (event: object) =>
        void seen.push({ ...event }, JSON.parse(JSON.stringify(event)), structuredClone(event) as never)
      inbox.on('shop', 'plain', note)
      inbox.on('shop', 'checked', note, { schema: amountSchema })
      const fields = { amount: '12.50', ref: 'r1' }
      await postAll(inbox, [
        { id: 'e1', type: 'plain', ...fields },
        { id: 'e1b', type: 'checked', ...fields },
      ])
      await inbox.drain()
      expect(seen).toHaveLength(6)
      for (const event of seen) {
        const checked = event.type === 'checked'
        expect(event).toMatchObject({
          source: 'shop',
          id: checked ? 'e1b' : 'e1',
          reference: 'r1',
          payload: checked ? { cents: 1_250 } : { amount: '12.50' },
          headers: {},
        })
        expect(event.receivedAt).toBeTypeOf('number')
        expect(event.raw).toBeDefined()
      }
    })

    test('a schema that never answers fails the attempt after the time limit of its handler', async () => {
      const { inbox } = bench.inbox()
      const schema: StandardSchema = { '~standard': { validate: () => new Promise(() => {}) } }
      inbox.on('shop', '*', () => {}, { schema, timeout: 50 })
      await postAll(inbox, [{ id: 'e1' }])
      expect(await inbox.process('shop', 'e1')).toMatchObject({
        kind: 'failed',
        error: 'the schema took longer than 50 ms',
      })
    })

    test('a payload that does not fit the schema is a dead letter and never reaches the handler', async () => {
      const { inbox } = bench.inbox()
      let calls = 0
      inbox.on('shop', '*', () => void calls++, { schema: amountSchema })
      await postAll(inbox, [{ id: 'e1', amount: 12.5, secretNote: 'tulip' }])
      await inbox.drain()
      const event = await inbox.events.get(key('e1'))
      expect(event).toMatchObject({ state: 'failed', nextAttemptAt: null })
      expect(event?.reason).toBe('the payload does not fit the schema: expected text at amount.value')
      expect(calls).toBe(0)
    })

    test('is parsed when it is asked for, and only then', async () => {
      // Named by its bytes: the body need not be JSON at all.
      const text = unverified({ id: 'hash', type: 'header:x-kind' })
      const { inbox } = bench.inbox({ sources: { text } })
      const raw: string[] = []
      inbox.on('text', '*', (event) => void raw.push(Buffer.from(event.raw).toString()))
      const sent = await inbox.receive('text', {
        method: 'POST',
        url: 'http://localhost/webhooks/text',
        headers: { 'x-kind': 'note' },
        body: Buffer.from('this is no JSON'),
      })
      expect(sent.status).toBe('accepted')
      await inbox.drain()
      expect(await stateOf(inbox, sent.eventId ?? '', 'text')).toBe('succeeded')
      expect(raw).toEqual(['this is no JSON'])
    })

    test('an error of JSON.parse is kept without the text it quotes', async () => {
      const text = unverified({ id: 'header:x-id', type: 'header:x-kind' })
      const { inbox, lines } = bench.inbox({ sources: { text } })
      inbox.on('text', '*', (event) => JSON.parse(Buffer.from(event.raw).toString()))
      const bodies = {
        short: 'DE8937 "x"',
        long: `iban DE89370400440532013000 ${'x'.repeat(90)}`,
        cut: '{"iban":"DE89',
      }
      for (const [id, body] of Object.entries(bodies)) {
        const headers = { 'x-id': id, 'x-kind': 'note' }
        const url = 'http://localhost/webhooks/text'
        await inbox.receive('text', { method: 'POST', url, headers, body: Buffer.from(body) })
        await inbox.drain()
        const event = await inbox.events.get(key(id, 'text'))
        expect(event?.state).toBe('failed')
        expect(event?.reason).toMatch(/JSON/)
        expect(event?.reason).not.toMatch(/iban|DE89/)
      }
      expect(JSON.stringify(lines)).not.toMatch(/iban|DE89/)
    })

    test('of a delivery with several events each handler call gets its own part', async () => {
      const many = unverified({ each: 'events[]', id: 'json:id', type: 'json:type', reference: 'json:ref' })
      const { inbox } = bench.inbox({ sources: { many } })
      const seen: unknown[] = []
      inbox.on('many', '*', (event) => void seen.push([event.id, event.reference, event.payload]))
      const events = ids(3).map((id) => ({ id, type: 'order.paid', ref: `r-${id}`, n: id }))
      const receipt = await inbox.receive('many', {
        method: 'POST',
        url: 'http://localhost/webhooks/many',
        headers: {},
        body: Buffer.from(JSON.stringify({ events })),
      })
      expect(receipt.events).toHaveLength(3)
      await inbox.drain()
      expect(seen.sort()).toEqual(events.map((event) => [event.id, event.ref, event]))
    })

    test('of an event whose id was in a header that is not kept is read all the same', async () => {
      const odd = unverified({ id: 'header:x-odd-id', type: 'const:odd' })
      const { inbox } = bench.inbox({ sources: { odd } })
      const seen: Record<string, unknown> = {}
      inbox.on('odd', '*', (event) => {
        seen[event.id] = event.payload
      })
      const bodies = [
        ['json', 'application/json', '{"a":1}'],
        ['form', 'application/x-www-form-urlencoded; charset=utf-8', 'a=1&b=c+d'],
        ['text', 'text/plain', 'a: 1'],
      ] as const
      for (const [id, type, body] of bodies) {
        const headers = { 'x-odd-id': id, 'content-type': type }
        const url = 'http://localhost/webhooks/odd'
        await inbox.receive('odd', { method: 'POST', url, headers, body: Buffer.from(body) })
      }
      await inbox.drain()
      expect(seen).toEqual({ json: { a: 1 }, form: { a: '1', b: 'c d' }, text: 'a: 1' })
    })

    test('of a form is its fields', async () => {
      const form = unverified({ id: 'form:MessageSid', type: 'form:Status', reference: 'form:To' })
      const { inbox } = bench.inbox({ sources: { form } })
      const seen: unknown[] = []
      inbox.on('form', '*', (event) => void seen.push([event.id, event.type, event.reference, event.payload]))
      await inbox.receive('form', {
        method: 'POST',
        url: 'http://localhost/webhooks/form',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from('MessageSid=SM1&Status=sent&To=%2B49&Body=a+b'),
      })
      await inbox.drain()
      expect(seen).toEqual([
        ['SM1', 'sent', '+49', { MessageSid: 'SM1', Status: 'sent', To: '+49', Body: 'a b' }],
      ])
    })
  })

  describe('the transaction', () => {
    test('a handler that runs out of time is aborted and rolled back, and what it does later changes nothing', async () => {
      const { inbox } = bench.inbox()
      const late = signal()
      const after: unknown[] = []
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          // On a busy machine its time may be over before it has written.
          await bench.write(ctx.tx, event.id).catch(() => {})
          await aborted(ctx.signal)
          await late.wait
          after.push(ctx.signal.aborted)
          await bench.write(ctx.tx, `${event.id} late`).catch((error) => after.push(error.code))
          await ctx.once('late', () => after.push('ran')).catch((error) => after.push(error.code))
          ctx.ignore('too late')
          after.push('end')
        },
        { timeout: 1_000, retry: { maxAttempts: 1 } },
      )
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.drain()
      const dead = {
        state: 'failed',
        reason: expect.stringContaining('the handler took longer than 1000 ms'),
        attempts: 1,
      }
      expect(await inbox.events.get(key('e1'))).toMatchObject(dead)
      late.give()
      await until(() => after.includes('end'), 'the handler ends')
      expect(after.slice(0, 2)).toEqual([true, 'TRANSACTION_CLOSED'])
      expect(after).not.toContain('ran')
      expect(await bench.log.effects()).toEqual([])
      expect(await inbox.events.get(key('e1'))).toMatchObject(dead)
    })

    test('ctx.tx kept beyond the attempt is closed', async () => {
      const { inbox } = bench.inbox()
      const kept: unknown[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        kept.push(ctx.tx)
        if (event.id === 'used') await bench.write(ctx.tx, event.id)
      })
      await postAll(inbox, [{ id: 'used' }, { id: 'unused' }])
      await inbox.drain()
      expect(kept).toHaveLength(2)
      for (const tx of kept) {
        await expect(bench.write(tx, 'late')).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
      }
      expect(await bench.log.effects()).toEqual(['used'])
    })

    test('is not begun when ctx.tx is not used', async () => {
      const store = bench.store()
      let begun = 0
      const counting = {
        ...store,
        transaction: () => {
          begun++
          return store.transaction()
        },
      }
      const { inbox } = bench.inbox({ store: counting })
      inbox.on('shop', '*', async (event, ctx) => {
        // Neither looking at it nor awaiting it is a use.
        await ctx.tx
        if (event.id === 'ignored') ctx.ignore('so')
        if (event.id === 'failed') throw permanent('so')
        await ctx.once('effect', () => 1)
      })
      await postAll(inbox, [{ id: 'done' }, { id: 'ignored' }, { id: 'failed' }])
      await inbox.drain()
      expect((await inbox.events.stats())[0]).toMatchObject({ succeeded: 1, ignored: 1, dead: 1 })
      expect(begun).toBe(0)
    })
  })

  describe('ctx.once', () => {
    test('runs an effect once over failed attempts and a replay, and gives its result each time', async () => {
      const { inbox } = bench.inbox()
      let calls = 0
      const results: unknown[] = []
      inbox.on('shop', '*', async (_event, ctx) => {
        results.push(await ctx.once('mail', () => ({ sent: ++calls })))
        if (ctx.run === 1 && ctx.attempt < 3) throw new Error('after the effect')
      })
      await postAll(inbox, [{ id: 'e1' }])
      for (let i = 0; i < 3; i++) await inbox.process('shop', 'e1')
      expect(await inbox.replay(key('e1'), { force: true })).toMatchObject({ done: true })
      await inbox.drain()
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'succeeded', run: 2, attempts: 4 })
      expect(calls).toBe(1)
      expect(results).toEqual(Array.from({ length: 4 }, () => ({ sent: 1 })))
    })

    test('calls of one name at the same time are one, calls of other names are others', async () => {
      const { inbox } = bench.inbox()
      const calls: string[] = []
      const results: unknown[] = []
      inbox.on('shop', '*', async (_event, ctx) => {
        const run = (name: string) => ctx.once(name, async () => calls.push(name))
        results.push(await Promise.all([...Array.from({ length: 8 }, () => run('a')), run('b')]))
      })
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.drain()
      expect(calls.sort()).toEqual(['a', 'b'])
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect(new Set((results[0] as number[]).slice(0, 8)).size).toBe(1)
    })

    test('an effect that throws is known not to have happened: it runs again, also under onUnknown review', async () => {
      const { inbox } = bench.inbox()
      let calls = 0
      inbox.on('shop', '*', async (_event, ctx) => {
        const work = () => {
          calls++
          if (calls < 3) throw new Error('mail server down')
          return 'sent'
        }
        await ctx.once('mail', work, { onUnknown: 'review' }).catch(async () => {
          // Within one attempt too.
          await ctx.once('mail', work, { onUnknown: 'review' })
        })
      })
      await postAll(inbox, [{ id: 'e1' }])
      expect(await inbox.process('shop', 'e1')).toMatchObject({ kind: 'failed', error: 'mail server down' })
      expect(calls).toBe(2)
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect(calls).toBe(3)
    })

    test('an effect that was begun and never ended is repeated, or sent to review when asked', async () => {
      const store = bench.store()
      const { inbox } = bench.inbox({ store, processing: { lease: 5_000, poll: 50 } })
      const calls: string[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        const onUnknown = event.id === 'careful' ? 'review' : 'repeat'
        await ctx.once('charge', () => void calls.push(event.id), { onUnknown })
      })
      await postAll(inbox, [{ id: 'careful' }, { id: 'bold' }])
      // Another worker takes both, begins the effect, and is never heard of again.
      const claimed = await store.claim({ worker: 'crashed', limit: 2, leaseMs: 60_000, sources: ['shop'] })
      expect(claimed).toHaveLength(2)
      for (const { lease } of claimed) {
        expect(await store.keys.effect({ step: 'start', lease, name: 'charge' })).toEqual({ state: 'new' })
      }
      await expireLeases(bench)
      await inbox.start()
      await until(async () => (await stateOf(inbox, 'bold')) === 'succeeded', 'bold is repeated')
      await until(async () => (await inbox.events.stats())[0]?.dead === 1, 'careful goes to review')
      const event = await inbox.events.get(key('careful'))
      expect(event?.nextAttemptAt).toBeNull()
      expect(event?.reason).toMatch(/effect "charge" was begun by an earlier attempt/)
      expect(calls).toEqual(['bold'])
      expect((await inbox.events.attempts(key('bold'))).map((one) => one.outcome)).toEqual([
        'lost',
        'succeeded',
      ])
    })

    test('works beside and inside the transaction', async () => {
      const { inbox } = bench.inbox()
      const calls: string[] = []
      inbox.on('shop', '*', async (event, ctx) => {
        await ctx.once('before', () => void calls.push('before'))
        await bench.write(ctx.tx, event.id)
        await ctx.once('within', () => void calls.push('within'))
        await ctx.once('writing', () => bench.write(ctx.tx, `${event.id} again`))
        if (ctx.attempt === 1) throw new Error('after all of them')
      })
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.process('shop', 'e1')
      expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
      expect(calls.filter((name) => name === 'before')).toHaveLength(1)
      expect((await bench.log.effects()).filter((value) => value === 'e1')).toHaveLength(1)
    })

    test('idempotencyKey is the same in every attempt and replay, and another for each event, name and source', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop(), shop2: shop() } })
      const keys = new Map<string, Set<string>>()
      for (const source of ['shop', 'shop2']) {
        inbox.on(source, '*', (event, ctx) => {
          for (const name of ['mail', 'charge', '1:mail']) {
            const of = `${source} ${event.id} ${name}`
            keys.set(of, (keys.get(of) ?? new Set()).add(ctx.idempotencyKey(name)))
          }
          if (ctx.attempt === 1) throw new Error('once more')
        })
        await postAll(inbox, [{ id: 'e1' }, { id: 'e11' }], source)
        for (const id of ['e1', 'e11']) {
          await inbox.process(source, id)
          await inbox.process(source, id)
          await inbox.replay(key(id, source), { force: true })
          await inbox.process(source, id)
        }
      }
      expect([...keys.values()].map((set) => set.size)).toEqual(Array.from({ length: 12 }, () => 1))
      expect(new Set([...keys.values()].flatMap((set) => [...set])).size).toBe(12)
    })
  })

  describe('inbox.once', () => {
    test('20 callers in two processes run the work once and all get its result', async () => {
      const store = bench.store()
      await store.migrate()
      const children = [0, 1].map(() => startChild('./once-child.mjs', ['10', ...bench.log.args]))
      try {
        await Promise.all(children.map((child) => child.said(1)))
        for (const child of children) child.tell('go')
        expect(await Promise.all(children.map((child) => child.ended()))).toEqual([0, 0])
        const lines = children.flatMap((child) => child.lines)
        expect(lines.filter((line) => line.startsWith('run '))).toHaveLength(1)
        const results = lines.filter((line) => line.startsWith('result '))
        expect(results).toHaveLength(20)
        expect(new Set(results).size).toBe(1)
      } finally {
        await Promise.all(children.map((child) => child.kill()))
      }
    })

    test('work that throws gives the key back, and a finished key keeps its result', async () => {
      const { inbox } = bench.inbox()
      await expect(
        inbox.once('report', () => {
          throw new Error('no paper')
        }),
      ).rejects.toThrow('no paper')
      expect(await inbox.once('report', () => ({ pages: 3 }))).toEqual({ pages: 3 })
      expect(await inbox.once('report', () => ({ pages: 4 }))).toEqual({ pages: 3 })
      expect(await inbox.once('other', () => 5)).toBe(5)
    })

    test('a holder who is silent beyond its lease is replaced, and its late result is not kept', async () => {
      const store = bench.store()
      const { inbox } = bench.inbox({ store })
      await wholeInbox(inbox).store()
      const taken = await store.keys.key({ step: 'take', key: 'k', leaseMs: 60_000 })
      expect(taken.state).toBe('taken')
      await expect(inbox.once('k', () => 'second', { wait: 1 })).rejects.toMatchObject({ code: 'KEY_BUSY' })
      const past = bench.kind === 'SQLite' ? '1' : `now() - interval '1 second'`
      await bench.log.sql(`update log.keys set held_until = ${past} where key = 'k'`)
      expect(await inbox.once('k', () => 'second')).toBe('second')
      const token = taken.state === 'taken' ? taken.token : ''
      const late = await store.keys.key({ step: 'finish', key: 'k', token, result: '"first"', ttlMs: null })
      expect(late.state).toBe('fenced')
      expect(await inbox.once('k', () => 'third')).toBe('second')
    })
  })

  describe('error texts', () => {
    test('what looks like a credential is masked in the log and in log lines', async () => {
      const { inbox, lines } = bench.inbox()
      const secrets = {
        stripe: `sk_live_${'a1B2'.repeat(6)}`,
        webhook: `whsec_${'Zz09'.repeat(8)}`,
        slack: `xoxb-1234567890-${'k3Y9'.repeat(5)}`,
        github: `ghp_${'Q7w8'.repeat(9)}`,
        githubFine: `github_pat_${'R5t6'.repeat(9)}`,
        bearer: 'Bearer eyJhbGciOiJIUzI1NiJ9.payload.sig',
        url: 'postgres://app:hunter2hunter2@db.internal/app',
      }
      inbox.on('shop', '*', (event) => {
        throw permanent(new TypeError(`call failed with ${secrets[event.id as keyof typeof secrets]} in it`))
      })
      await postAll(
        inbox,
        Object.keys(secrets).map((id) => ({ id })),
      )
      await inbox.drain()
      for (const [id, secret] of Object.entries(secrets)) {
        const text = (await inbox.events.get(key(id)))?.reason ?? ''
        expect(text).toContain('***')
        const bare = secret.replace(/^(Bearer |postgres:\/\/app:)/, '').replace(/@.*$/, '')
        expect([id, text.includes(bare)]).toEqual([id, false])
        expect(JSON.stringify(lines)).not.toContain(bare)
        expect(text).toMatch(/call failed with .* in it$/)
      }
    })
  })
})

onLog('PostgreSQL', (bench) => {
  test('an SQL error that the handler swallows is explained, and nothing of the transaction stays', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', async (event, ctx) => {
      const tx = ctx.tx as PostgresTx
      await bench.write(tx, event.id)
      await tx.query('select 1/0').catch(() => {})
      if (event.id === 'ignoring') ctx.ignore('so')
    })
    await postAll(inbox, [{ id: 'returning' }, { id: 'ignoring' }])
    await inbox.drain()
    for (const id of ['returning', 'ignoring']) {
      const event = await inbox.events.get(key(id))
      expect(event?.state).toBe('failed')
      expect(event?.reason).toMatch(/SQL error inside the handler was caught and not rethrown/)
    }
    expect(await bench.log.effects()).toEqual([])
  })

  test('a savepoint lets a handler go on after an SQL error', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', async (event, ctx) => {
      const tx = ctx.tx as PostgresTx
      await tx.query('savepoint before')
      await tx.query('select 1/0').catch(() => tx.query('rollback to savepoint before'))
      await bench.write(tx, event.id)
    })
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    expect(await stateOf(inbox, 'e1')).toBe('succeeded')
    expect(await bench.log.effects()).toEqual(['e1'])
  })

  test('an effect that was recorded beside a transaction stays when the transaction is rolled back', async () => {
    const { inbox } = bench.inbox()
    let calls = 0
    inbox.on('shop', '*', async (event, ctx) => {
      await bench.write(ctx.tx, event.id)
      await ctx.once('mail', () => void calls++)
      if (ctx.attempt === 1) throw new Error('after the mail')
    })
    await post(inbox, { id: 'e1' })
    await inbox.process('shop', 'e1')
    expect(await inbox.process('shop', 'e1')).toEqual({ kind: 'succeeded' })
    expect(calls).toBe(1)
  })
})
