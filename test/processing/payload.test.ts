/** The payload of an event is its own part of the delivery, and reading it does not read the delivery again. */
import { createInbox, type Source } from 'hookonce'
import { composite, generateKeys, github, hmac, plaid } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { scanned } from '#dist/verification/json.js'
import { onBothStores, secretOf } from '../support/inboxes.js'

const secret = secretOf('payload')
const items = (count: number) => ({
  page: 'p',
  items: Array.from({ length: count }, (_, i) => ({ id: `${i}`, i })),
})
const batch = (more: object = {}) =>
  hmac({ secret, header: 'x-signature', each: 'items[]', id: 'json:id', type: 'json:$.page', ...more })

onBothStores((stores) => {
  const received = async (source: Source, body: object) => {
    const inbox = createInbox({ store: stores.open(), sources: { batch: source } })
    const delivery = await source.sign({ body: JSON.stringify(body), now: Date.now() })
    const receipt = await inbox.receive('batch', delivery)
    expect(receipt.httpStatus).toBe(200)
    return receipt
  }
  const handled = async (source: Source) => {
    const inbox = createInbox({ store: stores.open(), sources: { batch: source } })
    const payloads = new Map<string, unknown>()
    inbox.on('batch', '*', (event) => {
      payloads.set(event.id, event.payload)
    })
    await inbox.drain()
    await inbox.stop()
    return payloads
  }

  test('each event of a delivery gets its own part', async () => {
    await received(batch(), items(20))
    const payloads = await handled(batch())
    expect(payloads.size).toBe(20)
    for (const [id, payload] of payloads) expect(payload).toEqual({ id, i: Number(id) })
  })

  test('also when the rules have changed since it was recorded: by its id, and never by its place alone', async () => {
    await received(batch(), {
      page: 'a',
      items: [{ id: 'a1' }, { id: 'a2' }, { id: 'a3' }],
      more: [{ id: 'b1' }],
    })
    const payloads = await handled(batch({ each: 'more[]', type: 'const:another' }))
    expect([...payloads]).toEqual([
      ['a1', null],
      ['a2', null],
      ['a3', null],
    ])
    await received(batch(), { page: 'c', items: [{ id: 'c1' }, { id: 'c2' }] })
    const backwards = hmac({
      secret,
      header: 'x-signature',
      each: 'items[]',
      id: composite('const:new', 'json:id'),
      type: 'json:$.page',
    })
    expect([...(await handled(backwards))]).toEqual([
      ['c1', { id: 'c1' }],
      ['c2', { id: 'c2' }],
    ])
  })

  test('an event that is named by a header, or by its signature, has its payload', async () => {
    const hub = github({ secret })
    const first = await received(hub, { action: 'opened' })
    expect((await handled(hub)).get(first.eventId!)).toEqual({ action: 'opened' })
    const bank = plaid(generateKeys('p256'))
    const second = await received(bank, { webhook_type: 'ITEM' })
    expect((await handled(bank)).get(second.eventId!)).toEqual({ webhook_type: 'ITEM' })
    const third = await received(batch(), { page: 'n', items: [{ n: 1 }, { n: 2 }] })
    const payloads = await handled(batch())
    expect(third.events.map(({ eventId }) => payloads.get(eventId))).toEqual([{ n: 1 }, { n: 2 }])
  })

  test('a payload that is nested too deeply for JSON.parse is its text; brackets inside strings are not nesting', async () => {
    const byHeader = hmac({ secret, header: 'x-signature', id: 'header:x-id', type: 'const:t' })
    const deep = `{"a":${'['.repeat(600)}${']'.repeat(600)}}`
    const flat = JSON.stringify({ a: '['.repeat(600) })
    const inbox = createInbox({ store: stores.open(), sources: { batch: byHeader } })
    for (const [id, body] of Object.entries({ deep, flat })) {
      const delivery = await byHeader.sign({ body, now: Date.now(), id })
      expect((await inbox.receive('batch', delivery)).httpStatus).toBe(200)
    }
    await inbox.stop()
    expect(Object.fromEntries(await handled(byHeader))).toEqual({ deep, flat: JSON.parse(flat) })
  })

  test('all payloads of a delivery cost a few passes over it, however many events it has', async () => {
    const passes = async (count: number, page: string) => {
      const body = {
        page,
        items: Array.from({ length: count }, (_, i) => ({ id: `${page}${i}`, text: 'x'.repeat(20) })),
      }
      await received(batch(), body)
      const before = scanned.bytes
      expect((await handled(batch())).size).toBe(count)
      return (scanned.bytes - before) / JSON.stringify(body).length
    }
    const few = await passes(10, 'few')
    // As many as are handled at once by default may each be the first to ask.
    expect(await passes(400, 'many')).toBeLessThan(20 * Math.max(1, few))
  })

  test('what a handler does to its payload is not seen by the next attempt', async () => {
    await received(batch(), {
      page: 'm',
      items: [
        { id: 'm1', v: 1 },
        { id: 'm2', v: 1 },
      ],
    })
    const inbox = createInbox({ store: stores.open(), sources: { batch: batch() } })
    const seen: unknown[] = []
    inbox.on('batch', '*', (event) => {
      const payload = event.payload as { v: number }
      seen.push(payload.v)
      payload.v = 2
      throw new Error('again')
    })
    for (const eventId of ['m1', 'm2', 'm1', 'm2']) await inbox.process('batch', eventId)
    await inbox.stop()
    expect(seen).toEqual([1, 1, 1, 1])
  })
})
