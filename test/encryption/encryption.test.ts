/** Payload encryption: nothing readable at rest, keys by name, and a wrong key is a failed attempt with a clear reason. */

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, silentLog } from 'hookonce'
import { archiveRestore, archiveRun, directory } from 'hookonce/archive'
import { describe, expect, test } from 'vitest'
import { keyRing } from '#dist/encryption/key-ring.js'
import { seal, unseal } from '#dist/encryption/seal.js'
import { wholeInbox } from '#dist/inbox/internals.js'
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
    const payload = await inbox.events.payload({ source: 'shop', id: 'a' })
    expect(Buffer.from(payload!.body).toString()).toBe(body)
    expect(payload!.headers).toEqual({ 'content-type': 'application/json' })
    expect(await post(inbox, { id: 'a', type: 't', secret })).toMatchObject({ duplicate: true })
  })

  test('a delivery that conflicts is sealed too, and can be compared with the event', async () => {
    const { inbox } = bench.inbox({ encryption: first })
    await post(inbox, { id: 'a', said: 'first' })
    await post(inbox, { id: 'a', said: secret })
    const store = await wholeInbox(inbox).store()
    await store.duplicates!.flush()
    const found = await store.inspect!.conflict({ source: 'shop', id: 'a' })
    expect(JSON.parse(Buffer.from(found!.body).toString())).toMatchObject({ id: 'a', said: secret })
    const bodies = await bench.rows(
      'select headers, body from log.payloads union all select headers, body from log.conflicts',
    )
    expect(bodies.length).toBe(2)
    for (const { headers, body } of bodies) {
      expect(headers).toBe('{":encrypted":"k1"}')
      expect(Buffer.from(body as Uint8Array).includes(secret)).toBe(false)
    }
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
      const payload = await inbox.events.payload({ source: 'shop', id: eventId })
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
      const event = await inbox.events.get({ source: 'shop', id: 'a' })
      expect(event).toMatchObject({ state: 'failed', reason: expect.stringContaining('"k1"') })
      await expect(inbox.events.payload({ source: 'shop', id: 'a' })).rejects.toMatchObject({ code })
      expect(JSON.stringify(lines)).not.toContain(secret)
    }
    const { inbox } = bench.inbox({ encryption: second })
    inbox.on('shop', '*', () => {})
    await inbox.process('shop', 'a')
    expect(await stateOf(inbox, 'a')).toBe('succeeded')
  })
})

onBothLogs((bench) => {
  test('an event whose payload cannot be decrypted is neither replayed nor retried, and stays as it is', async () => {
    const before = bench.inbox({ encryption: first }).inbox
    before.on('shop', '*', (event, ctx) => (event.id === 'left' ? ctx.ignore('a test') : undefined))
    for (const id of ['done', 'left']) await post(before, { id })
    await before.drain()
    const { inbox } = bench.inbox({ encryption: { current: 'k2', keys: { k2 } } })
    inbox.on('shop', '*', () => {})
    await post(inbox, { id: 'own' })
    await inbox.drain()
    const refused = { done: false, code: 'PAYLOAD_UNREADABLE' }
    expect(await inbox.replay({ source: 'shop', id: 'done' }, { force: true })).toEqual(refused)
    expect(await inbox.retry({ source: 'shop', id: 'left' })).toEqual(refused)
    for (const dryRun of [true, false])
      expect(await inbox.replay({ source: 'shop' }, { force: true, dryRun })).toEqual({
        matched: 3,
        done: 1,
        refused: { PAYLOAD_UNREADABLE: 2 },
      })
    await inbox.drain()
    expect([await stateOf(inbox, 'done'), await stateOf(inbox, 'left')]).toEqual(['succeeded', 'ignored'])
  })

  test('of a conflict, the content that shall run must be readable, and not the other', async () => {
    const k1Inbox = bench.inbox({ encryption: first }).inbox
    const k2Inbox = bench.inbox({ encryption: { current: 'k2', keys: { k2 } } }).inbox
    for (const inbox of [k1Inbox, k2Inbox]) inbox.on('shop', '*', () => {})
    for (const id of ['a', 'b']) await post(k1Inbox, { id, amount: 1 })
    await k1Inbox.drain()
    await post(k2Inbox, { id: 'a', amount: 2 })
    await post(k1Inbox, { id: 'b', amount: 2 })
    const order = { force: true, conflict: true }
    expect(await k2Inbox.replay({ source: 'shop', id: 'b' }, order)).toEqual({
      done: false,
      code: 'PAYLOAD_UNREADABLE',
    })
    expect(await k2Inbox.replay({ source: 'shop', id: 'a' }, order)).toMatchObject({ done: true })
    await k2Inbox.drain()
    expect(await stateOf(k2Inbox, 'a')).toBe('succeeded')
  })
})

onBothLogs((bench) => {
  /** Each gets the body of the other, by SQL. */
  async function swap(one: string, other: string): Promise<void> {
    const found =
      await bench.rows(`select p.seq, p.body from log.payloads p join log.events e on e.seq = p.seq
      where e.event_id in ('${one}', '${other}') order by p.seq`)
    for (const [i, { seq }] of found.entries()) {
      const hex = Buffer.from(found[1 - i]!.body as Uint8Array).toString('hex')
      const body = bench.kind === 'SQLite' ? `x'${hex}'` : `'\\x${hex}'::bytea`
      await bench.rows(`update log.payloads set body = ${body} where seq = ${seq}`)
    }
  }

  test('two ciphertexts that were swapped in the database are not handed out: their attempts fail', async () => {
    const { inbox } = bench.inbox({ encryption: first })
    const handled: string[] = []
    inbox.on('shop', '*', (event) => void handled.push(event.id))
    await post(inbox, { id: 'a', secret })
    await post(inbox, { id: 'b' })
    await swap('a', 'b')
    for (const eventId of ['a', 'b']) {
      await inbox.process('shop', eventId)
      const found = await inbox.events.get({ source: 'shop', id: eventId })
      expect(found).toMatchObject({ state: 'failed', reason: expect.stringContaining('another event') })
      await expect(inbox.events.payload({ source: 'shop', id: eventId })).rejects.toMatchObject({
        code: 'ENCRYPTION_MISPLACED',
      })
    }
    expect(handled).toEqual([])
    await swap('a', 'b')
    for (const eventId of ['a', 'b']) await inbox.process('shop', eventId)
    expect(handled).toEqual(['a', 'b'])
  })

  test('the ciphertext of a delivery that conflicts is not handed out as the event, nor the other way round', async () => {
    const { inbox } = bench.inbox({ encryption: first })
    const handled: string[] = []
    inbox.on('shop', '*', (event) => void handled.push(event.id))
    await post(inbox, { id: 'a', said: 'first' })
    await post(inbox, { id: 'a', said: 'second' })
    const store = await wholeInbox(inbox).store()
    await store.duplicates!.flush()
    const key = { source: 'shop', id: 'a' }
    const [own] = await bench.rows('select body from log.payloads')
    const [other] = await bench.rows('select body from log.conflicts')
    const write = (table: string, body: unknown) => {
      const hex = Buffer.from(body as Uint8Array).toString('hex')
      const literal = bench.kind === 'SQLite' ? `x'${hex}'` : `'\\x${hex}'::bytea`
      return bench.rows(`update log.${table} set body = ${literal}`)
    }
    await write('payloads', other!.body)
    await write('conflicts', own!.body)
    await inbox.process('shop', 'a')
    expect(handled).toEqual([])
    expect(await inbox.events.get(key)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('another event'),
    })
    const misplaced = { code: 'ENCRYPTION_MISPLACED' }
    await expect(inbox.events.payload(key)).rejects.toMatchObject(misplaced)
    await expect(store.inspect!.conflict(key)).rejects.toMatchObject(misplaced)
    await write('payloads', own!.body)
    await write('conflicts', other!.body)
    expect(await store.inspect!.conflict(key)).not.toBeNull()
    await inbox.process('shop', 'a')
    expect(handled).toEqual(['a'])
  })

  test('the ciphertext of the same event of another source is not handed out', async () => {
    const sources = { shop: shop(), crm: shop() }
    const { inbox } = bench.inbox({ encryption: first, sources })
    const handled: string[] = []
    for (const source of ['shop', 'crm'] as const)
      inbox.on(source, '*', (event) => void handled.push(event.source))
    for (const source of ['shop', 'crm']) await post(inbox, { id: 'a' }, source)
    const [one, other] = await bench.rows('select body from log.payloads order by seq')
    const hex = Buffer.from(other!.body as Uint8Array).toString('hex')
    const literal = bench.kind === 'SQLite' ? `x'${hex}'` : `'\\x${hex}'::bytea`
    await bench.rows(`update log.payloads set body = ${literal}`)
    expect(one).not.toEqual(other)
    for (const source of ['shop', 'crm']) await inbox.process(source, 'a')
    expect(handled).toEqual(['crm'])
    await expect(inbox.events.payload({ source: 'shop', id: 'a' })).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_WRONG',
    })
  })

  test('plain text in the place of a ciphertext is refused where encryption is required', async () => {
    await post(bench.inbox({ encryption: first }).inbox, { id: 'a', secret })
    await bench.rows(
      `update log.payloads set headers = '{}', body = ${bench.kind === 'SQLite' ? "cast('{}' as blob)" : "'{}'::bytea"}`,
    )
    const { inbox } = bench.inbox({ encryption: { ...first, required: true } })
    const handled: string[] = []
    inbox.on('shop', '*', (event) => void handled.push(event.id))
    await inbox.process('shop', 'a')
    expect(handled).toEqual([])
    expect(await inbox.events.get({ source: 'shop', id: 'a' })).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('not encrypted'),
    })
    await expect(inbox.events.payload({ source: 'shop', id: 'a' })).rejects.toMatchObject({
      code: 'ENCRYPTION_REQUIRED',
    })
    await post(inbox, { id: 'b' })
    await inbox.process('shop', 'b')
    expect(handled).toEqual(['b'])
  })

  test('an archive carries the binding: what was swapped before it is not handed out after a restore', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'hookonce-sealed-'))
    try {
      const target = directory(dir)
      const store = bench.store()
      const { inbox } = bench.inbox({ store, encryption: { ...first, required: true } })
      inbox.on('shop', '*', () => {})
      for (const id of ['a', 'b', 'c']) await post(inbox, { id, secret })
      await inbox.drain()
      await swap('a', 'c')
      const before = Date.now() + 86_400_000
      await archiveRun({ store, target, source: 'shop', before })
      await store.retention.prune({
        source: 'shop',
        payloadsBefore: before,
        archivedOnly: true,
        limit: 1_000,
      })
      expect(await bench.rows('select seq from log.payloads')).toEqual([])
      await archiveRestore({ store, target, source: 'shop', actor: 'ada', note: 'a test' })
      const payload = (eventId: string) => inbox.events.payload({ source: 'shop', id: eventId })
      expect(JSON.parse(Buffer.from((await payload('b'))!.body).toString()).id).toBe('b')
      for (const eventId of ['a', 'c'])
        await expect(payload(eventId)).rejects.toMatchObject({ code: 'ENCRYPTION_MISPLACED' })
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
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
  const event = { type: 't', reference: null, contentHash: Buffer.alloc(32, 1), guardHash: null }
  const events = ['a', 'b'].map((id) => ({ ...event, id }))
  const delivery = { source: 'shop', headers: { 'x-a': 'ü' }, body: Buffer.from([0, 255, 1]), events }
  const contentHash = '01'.repeat(32)
  const a = { source: 'shop', id: 'a', part: 0, contentHash }

  test('gives back what it was given, each time in another form', () => {
    const sealed = seal(ring, delivery)
    expect(unseal(ring, a, sealed)).toMatchObject({ headers: delivery.headers })
    expect(Buffer.compare(unseal(ring, a, sealed).body, delivery.body)).toBe(0)
    expect(Buffer.compare(seal(ring, delivery).body, sealed.body)).not.toBe(0)
    expect(seal(ring, sealed)).toBe(sealed)
  })

  test('notices a changed byte anywhere, another source, and a key id that was changed', () => {
    const sealed = seal(keyRing(second), delivery)
    const wrong = expect.objectContaining({ code: 'ENCRYPTION_KEY_WRONG' })
    for (let i = 0; i < sealed.body.byteLength; i++) {
      const body = Buffer.from(sealed.body)
      body[i]! ^= 1
      expect(() => unseal(keyRing(second), a, { ...sealed, body })).toThrow(wrong)
    }
    for (let length = 0; length < sealed.body.byteLength; length++)
      expect(() => unseal(keyRing(second), a, { ...sealed, body: sealed.body.subarray(0, length) })).toThrow(
        wrong,
      )
    expect(() => unseal(keyRing(second), { ...a, source: 'crm' }, sealed)).toThrow(wrong)
    const same = keyRing({ current: 'a', keys: { a: k1, b: k1 } })
    expect(() => unseal(same, a, { ...seal(same, delivery), headers: { ':encrypted': 'b' } })).toThrow(wrong)
  })

  test('opens for the events of its delivery only, each in its place', () => {
    const sealed = seal(ring, delivery)
    const misplaced = expect.objectContaining({ code: 'ENCRYPTION_MISPLACED' })
    unseal(ring, a, sealed)
    unseal(ring, { ...a, id: 'b', part: 1 }, sealed)
    for (const place of [
      { ...a, id: 'b' },
      { ...a, part: 1 },
      { ...a, part: 2 },
      { ...a, contentHash: '02'.repeat(32) },
      { ...a, contentHash: null },
      { ...a, isConflict: true },
    ])
      expect(() => unseal(ring, place, sealed)).toThrow(misplaced)
    unseal(ring, { ...a, contentHash: '02'.repeat(32), isConflict: true }, sealed)
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
      { current: 'k1', keys: { k1 }, required: 'yes' },
    ]) {
      expect(() => make(bad)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
      expect(() => make(bad)).not.toThrow(short)
    }
    expect(() => make(first)).not.toThrow()
  })
})
