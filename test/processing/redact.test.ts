/** Canaries in every place an error has; none of them may be in what is stored or logged. */
import type { InboxOptions } from 'hookonce'
import { permanent, retryAfter } from 'hookonce'
import { hmac } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { hideExcerpts, hideValues, masked, valuesAt } from '#dist/processing/mask.js'
import { secretOf } from '../support/inboxes.js'
import { type Bench, onBothLogs, post } from '../support/processing.js'

const email = 'ada.lovelace@example.org'
const card = '4000056655665556'
const note = 'please leave it behind the green door on the left'

const event = {
  id: 'e1',
  ref: 'order_1234567890abcdef',
  customer: { email, pin: '7' },
  payment: { card: { number: card } },
  note,
}

let posted = 0

/** What became of the event when its handler threw this. */
async function storedAfter(
  bench: Bench,
  thrown: unknown,
  options: Partial<InboxOptions> = {},
  more: object = {},
): Promise<string> {
  const { inbox, lines } = bench.inbox({
    ...options,
    processing: { leaseMs: 5_000, pollMs: 50, retry: { maxAttempts: 1 } },
  })
  inbox.on('shop', '*', () => {
    throw thrown
  })
  const id = `e${++posted}`
  await post(inbox, { ...event, ...more, id })
  await inbox.drain()
  const key = { source: 'shop', eventId: id }
  const [attempt] = await inbox.events.attempts(key)
  expect((await inbox.events.get(key))?.reason).toBe(attempt!.detail)
  return `${attempt!.detail}\n${JSON.stringify(lines)}`
}

const redact = {
  paths: ['customer.email', 'customer.pin', '*.card.number'],
  patterns: [/BUILD-\d+/, 'Projekt X'],
}

onBothLogs((bench) => {
  test.each([
    ['in the message', () => new Error(`no account for ${email}, card ${card}`)],
    [
      'in another case, in JSON and in a URL',
      () => new Error(`${email.toUpperCase()} ?to=${encodeURIComponent(email)}`),
    ],
    ['in part', () => new Error(`lookup failed for lovelace@example`)],
    ['in a cause', () => new Error('outer', { cause: new Error('inner', { cause: `${email}` }) })],
    ['in an AggregateError', () => new AggregateError([new Error(email), card], 'all failed')],
    ['in properties of its own', () => Object.assign(new Error('no'), { detail: email, [card]: email })],
    ['in its name', () => Object.assign(new Error('no'), { name: email })],
    ['under permanent()', () => permanent(new Error(`no ${email}`))],
    ['under retryAfter()', () => retryAfter(10, new Error(`no ${email}`))],
    ['in something that is not an error', () => `${email} ${card}`],
  ])('values at the paths are not stored, nor logged: %s', async (_where, make) => {
    const text = await storedAfter(bench, make(), { redact: { ...redact, stack: true } })
    for (const canary of [email, encodeURIComponent(email), card, 'lovelace@'])
      expect(text.toLowerCase()).not.toContain(canary.toLowerCase())
    expect(text).toMatch(/\*\*\*|no/)
  })

  test('a short value is masked where it stands alone, and words stay whole', async () => {
    const text = await storedAfter(bench, new Error('pin 7 refused, code 17'), { redact })
    expect(text).toContain('pin *** refused, code 17')
  })

  test('patterns and texts are masked, and the rest can be read', async () => {
    const text = await storedAfter(bench, new Error('BUILD-42 of projekt x failed on BUILD-8.'), { redact })
    expect(text).toContain('*** of *** failed on ***.')
  })

  test('excerpts of the payload are masked with no option at all; what the log shows anyway is not', async () => {
    const text = await storedAfter(
      bench,
      new Error(`cannot ship ${event.ref}: "leave it behind the green" is no street`),
    )
    expect(text).toContain(`cannot ship ${event.ref}: "***" is no street`)
  })

  test('the secrets of the sources are masked, with and without their prefix', async () => {
    const secret = `whsec_${secretOf('redact')}`
    const other = hmac({ secret: [secretOf('old'), secret], header: 'x-signature', id: 'json:id' })
    const shop = (await import('../support/processing.js')).shop()
    const text = await storedAfter(bench, new Error(`bad key ${secret} or ${secretOf('old')}`), {
      sources: { shop, other },
    })
    expect(text).not.toContain(secretOf('redact'))
    expect(text).not.toContain(secretOf('old'))
    expect(text).toContain('bad key ')
  })

  test('a stack is kept only when asked for, capped, without the message above it', async () => {
    const thrown = () => new Error(`no account for ${email}`)
    // The log line has one place of it; the stored text has none.
    const short = await storedAfter(bench, thrown(), { redact })
    expect(short.split('\n[')[0]).not.toContain('redact.test')
    const long = await storedAfter(bench, thrown(), { redact: { ...redact, stack: true } })
    expect(long.split('\n[')[0]).toContain('redact.test')
    expect(long).not.toContain(email)
  })

  test('message and stack are capped, and a cut does not bring half a value to light', async () => {
    const flood = new Error(`${'x'.repeat(70_000 - email.length - 4_465)}${email} and more`)
    const text = await storedAfter(bench, flood, {
      redact: { ...redact, maxMessage: 100, stack: true, maxStack: 60 },
    })
    expect(Buffer.byteLength(text.split('\n[')[0]!)).toBeLessThanOrEqual(161)
    // Almost all of it is masked, so the place where it was cut comes into view.
    const note = 'y'.repeat(65_500)
    const atCut = new Error(`${'y'.repeat(65_536 - 5)}${email}`)
    expect(await storedAfter(bench, atCut, { redact }, { note })).not.toContain('ada.')
    const atPatterns = new Error(`${'z'.repeat(16_384 - 6)}BUILD-99`)
    const patterns = [/z+/, /BUILD-\d+/]
    expect(await storedAfter(bench, atPatterns, { redact: { patterns } })).not.toContain('BUILD')
  })

  test('reasons to ignore are redacted too', async () => {
    const { inbox } = bench.inbox({ redact })
    inbox.on('shop', '*', (_event, ctx) => ctx.ignore(`nothing to do for ${email}`))
    await post(inbox, event)
    await inbox.drain()
    const record = await inbox.events.get({ source: 'shop', eventId: 'e1' })
    expect(record?.reason).toBe('nothing to do for ***')
  })

  test('a batch that fails says nothing of its events, one by one neither', async () => {
    const { inbox, lines } = bench.inbox({ redact, processing: { pollMs: 50, retry: { maxAttempts: 1 } } })
    inbox.onBatch('shop', '*', () => {
      throw Object.assign(new Error(`no account for ${email}`), { name: email })
    })
    await post(inbox, event)
    await post(inbox, { ...event, id: 'e2' })
    await inbox.drain()
    const attempts = await inbox.events.attempts({ source: 'shop', eventId: 'e2' })
    expect(attempts).toHaveLength(1)
    expect(JSON.stringify([lines, attempts])).not.toContain('ada.lovelace')
  })
})

test('wrong options are refused when the inbox is made', async () => {
  const { createInbox } = await import('hookonce')
  const made = (given: unknown) => () =>
    createInbox({ store: 'sqlite::memory:', sources: {}, redact: given as never })
  for (const given of [
    { path: ['x'] },
    { paths: ['.'] },
    { patterns: [/a*/] },
    { patterns: [7] },
    { maxMessage: 0 },
  ])
    expect(made(given)).toThrow('redact.')
  expect(made({ paths: ['a.b'], patterns: [/a+/y], maxMessage: 64 })).not.toThrow()
})

describe('finding values', () => {
  test('paths: a step, any step, any number of steps, a list', () => {
    const payload = {
      a: { email: 'x1', deep: { email: 'x2' } },
      items: [{ buyer: { n: 1 } }, { buyer: 'b' }],
    }
    expect([...valuesAt(payload, ['a', 'email'])]).toEqual(['x1'])
    expect([...valuesAt(payload, ['*', 'email'])]).toEqual(['x1'])
    expect([...valuesAt(payload, ['**', 'email'])]).toEqual(['x1', 'x2'])
    expect([...valuesAt(payload, ['items', '*', 'buyer'])]).toEqual(['1', 'b'])
  })

  test('runs: exactly those that occur in a value, however they overlap', () => {
    const runs = (text: string, values: string[], least: number) => {
      const hidden = new Uint8Array(text.length)
      hideExcerpts(text, values, least, hidden)
      return masked(text, hidden)
    }
    expect(runs('abcdefgh', ['cdef'], 4)).toBe('ab***gh')
    expect(runs('abcdefgh', ['cde'], 4)).toBe('abcdefgh')
    expect(runs('aaaa baaaab', ['aaaaaaaa'], 4)).toBe('*** b***b')
    expect(runs('one two three', ['xone twox', 'o three'], 6)).toBe('***')
    for (let round = 0; round < 300; round++) {
      const letters = (size: number) =>
        Array.from({ length: size }, () => 'ab'[Math.floor(Math.random() * 2)]).join('')
      const [text, value] = [letters(24), letters(16)]
      const hidden = new Uint8Array(text.length)
      hideExcerpts(text, [value], 5, hidden)
      const expected = new Uint8Array(text.length)
      for (let at = 0; at + 5 <= text.length; at++)
        if (value.includes(text.slice(at, at + 5))) expected.fill(1, at, at + 5)
      expect([text, value, hidden]).toEqual([text, value, expected])
    }
  })

  test('letters that change their length with their case do not move the mask', () => {
    const text = 'İİİ secret-value'
    const hidden = new Uint8Array(text.length)
    hideValues(text, ['secret-value'], hidden)
    expect(masked(text, hidden)).toBe('İİİ ***')
  })

  test('a large payload and a large text take no time to speak of', () => {
    const text = 'a'.repeat(65_536)
    const hidden = new Uint8Array(text.length)
    const startedAt = performance.now()
    hideExcerpts(text, ['a'.repeat(1_000_000), 'b'.repeat(1_000_000)], 16, hidden)
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    expect(masked(text, hidden)).toBe('***')
  })
})
