/** `return reply(...)`: the handler of an inline source answers its sender, and every duplicate gets the same answer. */

import { randomBytes } from 'node:crypto'
import type { Delivery, Inbox, Receipt } from 'hookonce'
import { HookonceError, lru, reply } from 'hookonce'
import type { StoreTransaction } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { onBothLogs, post, shop, signal, stateOf, until } from '../support/processing.js'

const key = (id: string) => ({ source: 'shop', id })
const sent = ({ httpStatus, headers, body, bytes }: Receipt) => ({ httpStatus, headers, body, bytes })
const xml = { 'content-type': 'text/xml' }

onBothLogs((bench) => {
  const sources = { shop: shop({ mode: 'inline' }) }

  describe('reply', () => {
    test('the sender gets the reply of the handler, and each duplicate gets the same status, headers and bytes', async () => {
      const { inbox } = bench.inbox({ sources })
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        return reply(bytes, { status: 201, headers: { 'Content-Type': 'image/x', 'X-One': 'ö' } })
      })
      const first = await post(inbox, { id: 'e1' })
      expect(first).toMatchObject({ httpStatus: 201, status: 'processed', duplicate: false })
      expect(first.headers).toEqual({ 'content-type': 'image/x', 'x-one': 'ö' })
      expect([...first.bytes!]).toEqual([...bytes])
      const elsewhere = bench.inbox({ sources }).inbox
      for (const each of [inbox, elsewhere]) {
        const again = await post(each, { id: 'e1' })
        expect(again).toMatchObject({ httpStatus: 201, status: 'already_processed', duplicate: true })
        expect(again.headers).toEqual(first.headers)
        expect([...again.bytes!]).toEqual([...bytes])
      }
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('text, JSON and nothing are replies too, with and without ctx.tx, and also of an ignored event', async () => {
      const { inbox } = bench.inbox({ sources })
      const replies: Record<string, unknown> = { text: '<a/>', json: { ok: [1] }, none: '' }
      inbox.on('shop', '*', async ({ id }, ctx) => {
        if (id === 'json') await bench.write(ctx.tx, id)
        if (id === 'text') ctx.ignore('not for us')
        return reply(replies[id], id === 'none' ? { status: 204 } : {})
      })
      for (const _ of ['first', 'again']) {
        expect(await post(inbox, { id: 'text' })).toMatchObject({
          httpStatus: 200,
          headers: { 'content-type': 'text/plain; charset=utf-8' },
          body: '<a/>',
        })
        expect(await post(inbox, { id: 'json' })).toMatchObject({
          httpStatus: 200,
          headers: { 'content-type': 'application/json' },
          body: '{"ok":[1]}',
        })
        expect(await post(inbox, { id: 'none' })).toMatchObject({ httpStatus: 204, headers: {}, body: '' })
      }
      expect(await stateOf(inbox, 'text')).toBe('ignored')
    })

    test('the reply comes before the answer that the provider expects', async () => {
      const answer = { httpStatus: 202, contentType: 'text/xml', body: '<Response/>', timeLimitMs: null }
      const { inbox } = bench.inbox({ sources: { shop: { ...shop({ mode: 'inline' }), answer } } })
      inbox.on('shop', '*', ({ id }) =>
        id === 'e1' ? reply('<Response>hi</Response>', { headers: xml }) : null,
      )
      expect(await post(inbox, { id: 'e1' })).toMatchObject({
        httpStatus: 200,
        body: '<Response>hi</Response>',
      })
      expect(await post(inbox, { id: 'e2' })).toMatchObject({ httpStatus: 202, body: '<Response/>' })
    })

    test('a reply that refuses is counted as an answer and not as a rejected delivery', async () => {
      const { inbox, lines } = bench.inbox({ sources })
      inbox.on('shop', '*', () => reply({ error: 'no' }, { status: 403 }))
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 403, status: 'processed' })
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 403, status: 'already_processed' })
      expect(await stateOf(inbox, 'e1')).toBe('succeeded')
      expect(lines.filter(({ msg }) => msg === 'delivery rejected')).toEqual([])
    })

    test('deliveries of one event at the same time, also in another process, wait for its handler and get its reply', async () => {
      let recorded = 0
      const counting = () => {
        const store = bench.store()
        const record: typeof store.record = async (deliveries, claim) => {
          const verdicts = await store.record(deliveries, claim)
          recorded += deliveries.length
          return verdicts
        }
        return bench.inbox({ sources, store: { ...store, record } }).inbox
      }
      const [inbox, elsewhere] = [counting(), counting()]
      const [running, go] = [signal(), signal()]
      let calls = 0
      for (const each of [inbox, elsewhere])
        each.on('shop', '*', async () => {
          const call = ++calls
          running.give()
          await go.wait
          return reply(`call ${call}`)
        })
      const first = post(inbox, { id: 'e1' })
      await running.wait
      const others = [inbox, elsewhere, inbox].map((each) => post(each, { id: 'e1' }))
      await until(() => recorded === 4, 'all deliveries are in the log')
      go.give()
      for (const receipt of await Promise.all([first, ...others]))
        expect(receipt).toMatchObject({ httpStatus: 200, body: 'call 1' })
      expect(calls).toBe(1)
    })

    test('effect and reply are one commit: when it fails there is neither, and the next delivery gets both', async () => {
      const store = bench.store()
      let failing = true
      const { inbox } = bench.inbox({ sources, store: { ...store, transaction } })
      async function transaction(...args: Parameters<typeof store.transaction>) {
        const begun: StoreTransaction = await store.transaction(...args)
        return {
          ...begun,
          async finish(...all: Parameters<typeof begun.finish>) {
            if (!failing) return begun.finish(...all)
            failing = false
            await begun.rollback()
            throw new HookonceError('COMMIT_UNKNOWN', { problem: 'cut' })
          },
        } as never
      }
      let calls = 0
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        return reply(`call ${++calls}`)
      })
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 503 })
      expect(await bench.log.effects()).toEqual([])
      await until(async () => (await post(inbox, { id: 'e1' })).httpStatus === 200, 'it is handled')
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ body: 'call 2' })
      expect(await bench.log.effects()).toEqual(['e1'])
    })

    test('the answer to the commit is lost: the delivery and its duplicates still get the reply', async () => {
      const store = bench.store()
      const { inbox } = bench.inbox({ sources, store: { ...store, transaction } })
      async function transaction(...args: Parameters<typeof store.transaction>) {
        const begun: StoreTransaction = await store.transaction(...args)
        return {
          ...begun,
          async finish(...all: Parameters<typeof begun.finish>) {
            await begun.finish(...all)
            throw new HookonceError('COMMIT_UNKNOWN', { problem: 'cut' })
          },
        } as never
      }
      let calls = 0
      inbox.on('shop', '*', () => reply(`call ${++calls}`))
      for (const _ of ['first', 'again'])
        expect(await post(inbox, { id: 'e1' })).toMatchObject({ body: 'call 1' })
    })

    test('a handler that fails stores no reply, and the reply of a later attempt in the background is kept for the next delivery', async () => {
      const { inbox } = bench.inbox({ sources })
      let calls = 0
      inbox.on('shop', '*', () => {
        if (++calls === 1) throw new Error('not yet')
        return reply(`call ${calls}`)
      })
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 500 })
      await inbox.start()
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'a worker has retried it')
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ status: 'already_processed', body: 'call 2' })
    })

    test('a replay answers nobody, and its reply replaces the stored one', async () => {
      const { inbox } = bench.inbox({ sources })
      let calls = 0
      inbox.on('shop', '*', () => reply(`call ${++calls}`))
      await post(inbox, { id: 'e1' })
      await inbox.replay(key('e1'), { force: true })
      await inbox.drain()
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ status: 'already_processed', body: 'call 2' })
    })

    test('a duplicate that the cache of known events finds gets the reply as well', async () => {
      const { inbox } = bench.inbox({ sources, seen: lru() })
      inbox.on('shop', '*', () => reply('from the handler'))
      const answers = []
      for (const _ of [1, 2, 3]) answers.push(sent(await post(inbox, { id: 'e1' })))
      expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['from the handler']))
    })

    test('a delivery with other content under the id is a conflict and does not get the reply', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', '*', () => reply('allowed'))
      await post(inbox, { id: 'e1', who: 'ann' })
      const other = await post(inbox, { id: 'e1', who: 'bob' })
      expect(other).toMatchObject({ httpStatus: 200, status: 'already_processed' })
      expect(other.body).not.toContain('allowed')
      expect(other.bytes).toBeUndefined()
    })

    test('the reply is removed with the payload: a later duplicate is answered as without a reply', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', '*', () => reply('personal'))
      await post(inbox, { id: 'e1', ref: 'cus_1' })
      await inbox.erase({ reference: 'cus_1', actor: 'test', note: 'asked' })
      const again = await post(inbox, { id: 'e1', ref: 'cus_1' })
      expect(again).toMatchObject({ httpStatus: 200, status: 'already_processed' })
      expect(JSON.parse(again.body)).toMatchObject({ status: 'already_processed' })
      expect(JSON.stringify(await bench.rows('select * from log.payloads'))).not.toContain('personal')
    })

    test('with encryption the log holds no readable reply, and duplicates get it', async () => {
      const encryption = { current: 'k1', keys: { k1: randomBytes(32) }, required: true }
      const { inbox } = bench.inbox({ sources, encryption })
      inbox.on('shop', '*', (event) =>
        reply(`canary for ${event.id}`, { headers: { 'x-canary': 'canary too' } }),
      )
      await post(inbox, { id: 'e1' })
      expect(await post(inbox, { id: 'e1' })).toMatchObject({
        body: 'canary for e1',
        headers: { 'x-canary': 'canary too' },
      })
      const rows = await bench.rows('select reply_headers, reply_body from log.payloads')
      expect(Buffer.from(rows[0]!.reply_body as Uint8Array).toString('latin1')).not.toContain('canary')
      expect(rows[0]!.reply_headers).not.toContain('canary')
      // Put in the place of another event, it does not open.
      await post(inbox, { id: 'e2' })
      await swapReplies(bench.rows)
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 503 })
    })
  })

  describe('a reply that nobody waits for is an error that names the way out', () => {
    const deadLetter = async (inbox: Inbox, of: { source: string; id: string }) => {
      await until(async () => (await inbox.events.get(of))?.state === 'failed', 'it has failed')
      const event = await inbox.events.get(of)
      expect(event?.nextAttemptAt).toBeNull()
      return event?.reason
    }

    test('in background mode, and nothing is committed', async () => {
      const { inbox } = bench.inbox()
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, event.id)
        return reply('hello')
      })
      await inbox.start()
      await post(inbox, { id: 'e1' })
      expect(await deadLetter(inbox, key('e1'))).toContain(`set mode: 'inline' on the source "shop"`)
      expect(await bench.log.effects()).toEqual([])
    })

    test('of a named consumer', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.on('shop', '*', () => reply('to the sender'))
      inbox.on('shop', '*', () => reply('to nobody'), { consumer: 'mail' })
      await inbox.start()
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ body: 'to the sender' })
      expect(await deadLetter(inbox, { source: 'shop/mail', id: 'e1' })).toContain(
        'was answered before it ran',
      )
    })

    test('of one of several events', async () => {
      const identify = ({ body }: Delivery) =>
        (JSON.parse(Buffer.from(body).toString()).id as string).split(',').map((id) => ({
          ...{ id, type: 't', reference: null, payload: null, content: null },
        }))
      const { slices: _, ...each } = shop({ mode: 'inline' })
      const { inbox } = bench.inbox({ sources: { shop: { ...each, identify } } })
      inbox.on('shop', '*', () => reply('to one'))
      expect(await post(inbox, { id: 'a,b' })).toMatchObject({ httpStatus: 500 })
      expect(await deadLetter(inbox, key('a'))).toContain('several events')
      expect(await post(inbox, { id: 'c' })).toMatchObject({ body: 'to one' })
    })

    test('of a batch', async () => {
      const { inbox } = bench.inbox({ sources })
      inbox.onBatch('shop', '*', () => reply('to many'))
      expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 500 })
      expect(await deadLetter(inbox, key('e1'))).toContain('use `on` instead of `onBatch`')
    })
  })
})

async function swapReplies(rows: (text: string) => Promise<unknown>): Promise<void> {
  await rows(`update log.payloads set reply_body = (
    select p.reply_body from log.payloads p where p.seq <> log.payloads.seq)`)
}

describe('reply(...) refuses', () => {
  const refused: readonly [string, () => unknown, string][] = [
    ['a status of an outage', () => reply('', { status: 503 }), 'from 200 to 499'],
    ['a status that is no number', () => reply('', { status: Number.NaN }), 'from 200 to 499'],
    ['a body of 256 KiB and a byte', () => reply('x'.repeat(262_145)), 'not be larger than 262144'],
    ['a body with 204', () => reply('x', { status: 204 }), 'must be empty'],
    ['a function', () => reply(() => {}), 'a JSON value'],
    [
      'a line break in a header',
      () => reply('', { headers: { 'x-a': 'b\r\nset-cookie: c' } }),
      'line breaks',
    ],
    ['a line break in a name', () => reply('', { headers: { 'x-a\r\nb': 'c' } }), 'letters, digits'],
    ['a name of two spellings', () => reply('', { headers: { 'X-a': '1', 'x-A': '2' } }), 'given once'],
    [
      'a header of the connection',
      () => reply('', { headers: { 'Content-Length': '1' } }),
      'the server sets it',
    ],
    ['8 KiB of headers', () => reply('', { headers: { 'x-a': 'b'.repeat(8_192) } }), '8192 bytes'],
  ]
  test.each(refused)('%s', (_, make, problem) => {
    expect(make).toThrow(problem)
  })

  test('nothing of 256 KiB exactly, and later changes of the bytes do not change the reply', () => {
    const bytes = Buffer.alloc(262_144, 'a')
    const made = reply(bytes)
    bytes.fill('b')
    expect(Buffer.from(made.body).includes('b')).toBe(false)
  })
})
