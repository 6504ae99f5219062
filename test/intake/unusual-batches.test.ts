/** A batch with an unusual shape is recorded: a signed delivery is never answered with 400. */
import { createInbox, type Source } from 'hookonce'
import { adyen, brevo, line } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, describe, expect, test } from 'vitest'

const secret = 'a secret that is long enough'
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function receive(source: Source, body: string, headers: Record<string, string> = {}) {
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { sender: source } })
  closing.push(() => inbox.stop())
  const now = Date.now()
  const signed = await source.sign({ body, now, headers: { 'content-type': 'application/json', ...headers } })
  return { inbox, signed, receipt: await inbox.receive('sender', signed) }
}

/** Nested this deeply, but closed. */
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('one deeply nested event of a signed batch', () => {
  const item = (id: string, extra = '0') => `{"type":"message","webhookEventId":"${id}","extra":${extra}}`
  const body = `{"events":[${item('a')},${item('b', nested(600))},${item('c')}]}`

  test('is recorded beside the others, each under its own id', async () => {
    const { receipt, inbox } = await receive(line({ secret }), body)
    expect([receipt.httpStatus, receipt.status]).toEqual([200, 'accepted'])
    expect(receipt.events?.map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c'])
    expect((await inbox.events.list({})).events.map(({ type }) => type)).toEqual([
      'message',
      'message',
      'message',
    ])
  })

  test('reaches its handler as text, the others as values', async () => {
    const source = line({ secret })
    const payloads: unknown[] = []
    const { inbox } = await receive(source, body)
    inbox.on('sender', '*', (event) => void payloads.push(event.payload))
    await inbox.drain()
    expect(payloads.map((payload) => typeof payload).sort()).toEqual(['object', 'object', 'string'])
    expect(payloads).toContain(item('b', nested(600)))
  })

  test('is verified also when each event has its own signature', async () => {
    const source = adyen({ secret: '44'.repeat(32) })
    const sample = source.sample({ now: Date.now() })
    const { receipt } = await receive(
      source,
      String(sample.body).replace('"eventCode"', `"extra":${nested(600)},"eventCode"`),
    )
    expect(receipt.httpStatus).toBe(200)
  })
})

describe('a delivery with more events than can be split', () => {
  const items = (count: number, of: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => of(index)).join(',')

  test('is one event with the name of its signed content', async () => {
    const source = line({ secret })
    const body = `{"events":[${items(10_001, (i) => `{"webhookEventId":"${i}"}`)}]}`
    const { receipt, inbox, signed } = await receive(source, body)
    expect([receipt.httpStatus, receipt.eventId]).toEqual([200, expect.stringMatching(/^sha256:/)])
    expect(await inbox.receive('sender', signed)).toMatchObject({ httpStatus: 200, duplicate: true })
    const handled: { id: string; type: string; payload: unknown }[] = []
    inbox.on('sender', '*', ({ id, type, payload }) => void handled.push({ id, type, payload }))
    await inbox.drain()
    expect(handled).toEqual([{ id: receipt.eventId, type: 'unknown', payload: JSON.parse(body) }])
  })

  test('is one event also if the sender signs nothing', async () => {
    const source = brevo({ secret })
    const body = `[${items(10_001, (i) => `{"event":"click","id":${i}}`)}]`
    const { receipt, inbox } = await receive(source, body)
    expect([receipt.httpStatus, receipt.eventId]).toEqual([200, expect.stringMatching(/^sha256:/)])
    expect((await inbox.events.list({})).events).toHaveLength(1)
  })
})
