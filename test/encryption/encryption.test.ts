/** Payload encryption: nothing readable at rest, keys by name, and a wrong key is a failed attempt with a clear reason. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createInbox, silentLog } from 'hookonce'
import { describe, expect, test } from 'vitest'
import { keyRing } from '#dist/encryption/keys.js'
import { seal, unseal } from '#dist/encryption/seal.js'
import { onBothLogs, onLog, post, shop, stateOf } from '../support/processing.js'

const k1 = randomBytes(32).toString('base64')
const k2 = randomBytes(32).toString('hex')
const first = { current: 'k1', keys: { k1 } }
const second = { current: 'k2', keys: { k1, k2 } }
const secret = 'a very private value'

onBothLogs((bench) => {
  test('what is stored cannot be read, and handlers get the bytes and headers as they came', async () => {
    const { inbox } = bench.inbox({ encryption: first })
    const seen: string[] = []
    inbox.on('shop', '*', (event) => {
      seen.push(`${Buffer.from(event.raw)} ${event.headers['content-type']}`)
    })
    const body = JSON.stringify({ id: 'a', type: 't', secret })
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(body),
    })
    const [row] = await bench.rows('select headers, body from log.payloads')
    expect(row!.headers).toBe('{":encrypted":"k1"}')
    expect(Buffer.from(row!.body as Uint8Array).includes(secret)).toBe(false)
    await inbox.drain()
    expect(seen).toEqual([`${body} application/json`])
    const payload = await inbox.events.payload({ source: 'shop', eventId: 'a' })
    expect(Buffer.from(payload!.body).toString()).toBe(body)
    expect(payload!.headers).toEqual({ 'content-type': 'application/json' })
    expect(await post(inbox, { id: 'a', type: 't', secret })).toMatchObject({ duplicate: true })
  })

  test('a new current key is used for what is new, and what is old or plain stays readable', async () => {
    const plain = bench.inbox().inbox
    await post(plain, { id: 'plain' })
    const before = bench.inbox({ encryption: first }).inbox
    await post(before, { id: 'old' })
    const { inbox } = bench.inbox({ encryption: second })
    await post(inbox, { id: 'new' })
    const keys = await bench.rows('select headers from log.payloads order by seq')
    expect(keys.map((row) => JSON.parse(String(row.headers))[':encrypted'])).toEqual([undefined, 'k1', 'k2'])
    for (const eventId of ['plain', 'old', 'new']) {
      const payload = await inbox.events.payload({ source: 'shop', eventId })
      expect(JSON.parse(Buffer.from(payload!.body).toString()).id).toBe(eventId)
    }
  })

  test('a missing or wrong key fails the attempt with its name, and the event is handled once the key is there', async () => {
    await post(bench.inbox({ encryption: first }).inbox, { id: 'a', secret })
    const without = { current: 'k2', keys: { k2 } }
    const wrong = { current: 'k1', keys: { k1: randomBytes(32) } }
    for (const [encryption, code] of [
      [without, 'ENCRYPTION_KEY_MISSING'],
      [wrong, 'ENCRYPTION_KEY_WRONG'],
    ] as const) {
      const { inbox, lines } = bench.inbox({ encryption })
      let handled = 0
      inbox.on('shop', '*', () => {
        handled++
      })
      await post(inbox, { id: `neighbour of ${code}` })
      await inbox.process('shop', 'a')
      await inbox.process('shop', `neighbour of ${code}`)
      expect(handled).toBe(1)
      const event = await inbox.events.get({ source: 'shop', eventId: 'a' })
      expect(event).toMatchObject({ state: 'failed', reason: expect.stringContaining('"k1"') })
      await expect(inbox.events.payload({ source: 'shop', eventId: 'a' })).rejects.toMatchObject({ code })
      expect(JSON.stringify(lines)).not.toContain(secret)
    }
    const { inbox } = bench.inbox({ encryption: second })
    inbox.on('shop', '*', () => {})
    await inbox.process('shop', 'a')
    expect(await stateOf(inbox, 'a')).toBe('succeeded')
  })
})

onLog('SQLite', (bench) => {
  test('the file and its log hold nothing of it', async () => {
    const { inbox } = bench.inbox({ encryption: first })
    await post(inbox, { id: 'a', secret })
    for (const suffix of ['', '-wal'])
      expect(readFileSync(`${bench.log.args[1]}${suffix}`).includes(secret)).toBe(false)
  })
})

describe('sealing', () => {
  const ring = keyRing(first)
  const delivery = { source: 'shop', headers: { 'x-a': 'ü' }, body: Buffer.from([0, 255, 1]) }

  test('gives back what it was given, each time in another form', () => {
    const sealed = seal(ring, delivery)
    expect(unseal(ring, 'shop', sealed)).toMatchObject({ headers: delivery.headers })
    expect(Buffer.compare(unseal(ring, 'shop', sealed).body, delivery.body)).toBe(0)
    expect(Buffer.compare(seal(ring, delivery).body, sealed.body)).not.toBe(0)
    expect(seal(ring, sealed)).toBe(sealed)
  })

  test('notices a changed byte anywhere, another source, and a key id that was changed', () => {
    const sealed = seal(keyRing(second), delivery)
    const wrong = expect.objectContaining({ code: 'ENCRYPTION_KEY_WRONG' })
    for (let i = 0; i < sealed.body.byteLength; i++) {
      const body = Buffer.from(sealed.body)
      body[i]! ^= 1
      expect(() => unseal(keyRing(second), 'shop', { ...sealed, body })).toThrow(wrong)
    }
    for (let length = 0; length < sealed.body.byteLength; length++)
      expect(() =>
        unseal(keyRing(second), 'shop', { ...sealed, body: sealed.body.subarray(0, length) }),
      ).toThrow(wrong)
    expect(() => unseal(keyRing(second), 'crm', sealed)).toThrow(wrong)
    const same = keyRing({ current: 'a', keys: { a: k1, b: k1 } })
    expect(() => unseal(same, 'shop', { ...seal(same, delivery), headers: { ':encrypted': 'b' } })).toThrow(
      wrong,
    )
  })

  test('keys that are none are refused when the inbox is made, without being shown', () => {
    const make = (encryption: unknown) =>
      createInbox({
        store: 'sqlite::memory:',
        sources: { shop: shop() },
        log: silentLog,
        encryption: encryption as typeof first,
      })
    const short = 'c2hvcnQ='
    for (const bad of [
      { current: 'k1', keys: {} },
      { current: 'k1' },
      { current: 'k3', keys: { k1 } },
      { current: 'k1', keys: { k1: short } },
      { current: 'k1', keys: { k1: 5 } },
      { current: 'a:b', keys: { 'a:b': k1 } },
    ]) {
      expect(() => make(bad)).toThrow(expect.objectContaining({ code: 'ENCRYPTION_OPTIONS' }))
      expect(() => make(bad)).not.toThrow(short)
    }
    expect(() => make(first)).not.toThrow()
  })
})
