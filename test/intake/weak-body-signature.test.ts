/** PayPal signs a CRC-32 of the body, for which anyone can make another body. A signed text is good for one event. */
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createInbox } from 'hookonce'
import { paypal } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { rsaCertificate, rsaCertificateKey } from '../support/certificate.js'

const source = paypal({
  publicKey: rsaCertificate,
  privateKey: rsaCertificateKey,
  webhookId: '1JE4291016473214C',
})

test('bodies with the checksum of a captured delivery are withheld, also without an id of their own', async () => {
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { paypal: source } })
  const handled: string[] = []
  inbox.on('paypal', '*', (event) => void handled.push(event.id))
  const sample = source.sample({ now: Date.now(), id: 'WH-genuine' })
  const captured = await source.sign(sample)
  const wanted = crc32(captured.body)
  expect((await inbox.receive('paypal', captured)).status).toBe('accepted')

  for (const start of ['{"id":"WH-forged-1",', '{"id":"WH-forged-2",', '{', 'not JSON ']) {
    const body = withChecksum(`${start}"event_type":"PAYMENT.SALE.COMPLETED","pad":"`, '"}', wanted)
    const receipt = await inbox.receive('paypal', { ...captured, body })
    expect([receipt.httpStatus, receipt.duplicate]).toEqual([200, false])
  }
  // The sender repeats an event under a new transmission, and sends another one.
  const headers = { ...sample.headers, 'paypal-transmission-id': randomUUID() }
  expect(await inbox.receive('paypal', await source.sign({ ...sample, headers }))).toMatchObject({
    duplicate: true,
  })
  const next = source.sample({ now: Date.now(), id: 'WH-next' })
  const other = { ...next.headers, 'paypal-transmission-id': randomUUID() }
  await inbox.receive('paypal', await source.sign({ ...next, headers: other }))

  await inbox.drain()
  expect(handled.sort()).toEqual(['WH-genuine', 'WH-next'])
  const { events } = await inbox.events.list({ state: 'ignored' } as never)
  expect(events).toHaveLength(4)
  await inbox.stop()
})

test('its facts say that only a checksum of the body is signed', () => {
  expect(source).toMatchObject({
    idIsSigned: false,
    contentGuard: 'review',
    scheme: { covers: { body: 'checksum' } },
  })
})

/** CRC-32 is linear: flipping one bit of the text flips fixed bits of the checksum, whatever the others are. */
function withChecksum(start: string, end: string, wanted: number): Buffer {
  const pad = Buffer.alloc(64, '0')
  const bodyOf = (digits: Buffer) => Buffer.concat([Buffer.from(start), digits, Buffer.from(end)])
  const plain = crc32(bodyOf(pad))
  /** By the highest bit: the change of the checksum, and the digits that cause it. */
  const basis = new Map<number, { change: number; digits: bigint }>()
  const reduce = (change: number, digits: bigint) => {
    let rest = { change, digits }
    for (let bit = 31; bit >= 0; bit -= 1) {
      if (((rest.change >>> bit) & 1) === 0) continue
      const known = basis.get(bit)
      if (known === undefined) return { ...rest, bit }
      rest = { change: (rest.change ^ known.change) >>> 0, digits: rest.digits ^ known.digits }
    }
    return { ...rest, bit: -1 }
  }
  for (let at = 0; at < pad.length; at += 1) {
    const flipped = Buffer.from(pad)
    flipped[at] = 0x31
    const found = reduce((crc32(bodyOf(flipped)) ^ plain) >>> 0, 1n << BigInt(at))
    if (found.bit >= 0) basis.set(found.bit, found)
  }
  const { digits } = reduce((plain ^ wanted) >>> 0, 0n)
  for (let at = 0; at < pad.length; at += 1) if ((digits >> BigInt(at)) & 1n) pad[at] = 0x31
  const body = bodyOf(pad)
  expect(crc32(body)).toBe(wanted)
  return body
}
