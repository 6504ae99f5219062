/** Canaries in every place an error has; none of them may be in what is stored or logged. */
import type { InboxOptions } from 'hookonce'
import { permanent, retryAfter } from 'hookonce'
import { hmac } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { parsePath, valuesAt, withoutValues } from '#dist/processing/private-values.js'
import { secretOf } from '../support/inboxes.js'
import { type Bench, onLog, post } from '../support/processing.js'

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
    processing: { lease: 5_000, poll: 50, retry: { maxAttempts: 1 } },
  })
  inbox.on('shop', '*', () => {
    throw thrown
  })
  const id = `e${++posted}`
  await post(inbox, { ...event, ...more, id })
  await inbox.drain()
  const key = { source: 'shop', id: id }
  const [attempt] = await inbox.events.attempts(key)
  expect((await inbox.events.get(key))?.reason).toBe(attempt!.detail)
  return `${attempt!.detail}\n${JSON.stringify(lines)}`
}

const redact = {
  paths: ['customer.email', 'customer.pin', '*.card.number'],
  patterns: [/BUILD-\d+/, 'Projekt X'],
}

onLog('SQLite', (bench) => {
  test.each([
    ['in the message', () => new Error(`no account for ${email}, card ${card}`)],
    [
      'in another case, in JSON and in a URL',
      () => new Error(`${email.toUpperCase()} ?to=${encodeURIComponent(email)}`),
    ],
    ['in a cause', () => new Error('outer', { cause: new Error('inner', { cause: `${email}` }) })],
    ['in an AggregateError', () => new AggregateError([new Error(email), card], 'all failed')],
    ['in properties of its own', () => Object.assign(new Error('no'), { detail: email, [card]: email })],
    ['in its name', () => Object.assign(new Error('no'), { name: email })],
    ['under permanent()', () => permanent(new Error(`no ${email}`))],
    ['under retryAfter()', () => retryAfter(10, new Error(`no ${email}`))],
    ['in something that is not an error', () => `${email} ${card}`],
  ])('values at the paths are not stored, nor logged: %s', async (_where, make) => {
    const text = await storedAfter(bench, make(), { redact: { ...redact, stack: true } })
    for (const canary of [email, encodeURIComponent(email), card])
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

  test('a message that quotes the payload is stored as it is, unless a path or a pattern says otherwise', async () => {
    const thrown = () => new Error(`"${note}" is no street`)
    expect(await storedAfter(bench, thrown())).toContain(note)
    for (const given of [{ paths: ['note'] }, { patterns: [/[\s\S]+/] }])
      expect(await storedAfter(bench, thrown(), { redact: given })).not.toContain(note.slice(0, 9))
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
      redact: { ...redact, stack: true },
    })
    expect(Buffer.byteLength(text.split('\n[')[0]!)).toBeLessThanOrEqual(8_192)
    // Almost all of it is masked, so the place where it was cut comes into view.
    const long = { ...redact, paths: [...redact.paths, 'note'] }
    for (const half of [5, 300, 400]) {
      const note = `${'y'.repeat(200)}${'w'.repeat(400)}`
      const atCut = new Error(`${'v'.repeat(16_384 - half)}${note}`)
      const stored = await storedAfter(bench, atCut, { redact: { ...long, patterns: [/v+/] } }, { note })
      expect(stored).not.toMatch(/y{3}|w{3}/)
    }
    const atPatterns = new Error(`${'z'.repeat(16_384 - 6)}BUILD-99`)
    const patterns = [/z+/, /BUILD-\d+/]
    expect(await storedAfter(bench, atPatterns, { redact: { patterns } })).not.toContain('BUILD')
  })

  test('reasons to ignore are redacted too', async () => {
    const { inbox } = bench.inbox({ redact })
    inbox.on('shop', '*', (_event, ctx) => ctx.ignore(`nothing to do for ${email}`))
    await post(inbox, event)
    await inbox.drain()
    const record = await inbox.events.get({ source: 'shop', id: 'e1' })
    expect(record?.reason).toBe('nothing to do for ***')
  })

  test('a batch that fails says nothing of its events, one by one neither', async () => {
    const { inbox, lines } = bench.inbox({ redact, processing: { poll: 50, retry: { maxAttempts: 1 } } })
    inbox.onBatch('shop', '*', () => {
      throw Object.assign(new Error(`no account for ${email}`), { name: email })
    })
    await post(inbox, event)
    await post(inbox, { ...event, id: 'e2' })
    await inbox.drain()
    const attempts = await inbox.events.attempts({ source: 'shop', id: 'e2' })
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
    { stack: 1 },
  ])
    expect(made(given)).toThrow('redact.')
  expect(made({ paths: ['a.b'], patterns: [/a+/y] })).not.toThrow()
})

describe('finding values', () => {
  test('paths: a step, any step, any number of steps, a list, several at once', () => {
    const payload = {
      a: { email: 'x1', deep: { email: 'x2' } },
      items: [{ buyer: { n: 1 } }, { buyer: 'b' }],
    }
    const at = (...paths: string[]) => [...valuesAt(payload, paths.map(parsePath))!].sort()
    expect(at('a.email')).toEqual(['x1'])
    expect(at('*.email')).toEqual(['x1'])
    expect(at('**.email')).toEqual(['x1', 'x2'])
    expect(at('items[].buyer')).toEqual(['1', 'b'])
    expect(at('a.*.email', 'items.1')).toEqual(['b', 'x2'])
    expect(at('**')).toEqual(['1', 'b', 'x1', 'x2'])
    expect(at('**.deep.**', 'nothing')).toEqual(['x2'])
  })

  test('exactly the values are masked, however they overlap', () => {
    expect(withoutValues('abcdefgh', ['cde', 'defg'], false)).toBe('ab***h')
    expect(withoutValues('abcd', ['bcx', 'abcde'], false)).toBe('abcd')
    for (let round = 0; round < 300; round++) {
      const letters = (size: number) =>
        Array.from({ length: size }, () => 'ab'[Math.floor(Math.random() * 2)]).join('')
      const text = letters(24)
      const values = [letters(3), letters(5), letters(4), letters(8)]
      const hidden = new Set<number>()
      for (const value of values)
        for (let at = 0; at + value.length <= text.length; at++)
          if (text.startsWith(value, at)) for (let i = 0; i < value.length; i++) hidden.add(at + i)
      const expected = [...text].map((letter, i) => (hidden.has(i) ? '*' : letter)).join('')
      expect([text, values, withoutValues(text, values, false)]).toEqual([
        text,
        values,
        expected.replace(/\*+/g, '***'),
      ])
    }
  })

  test('the beginning of a value is masked at the end of a text that was cut', () => {
    expect(withoutValues('see secret-val', ['secret-value'], true)).toBe('see ***')
    expect(withoutValues('see secret-val', ['secret-value'], false)).toBe('see secret-val')
    expect(withoutValues('see secret', [`secret${'x'.repeat(100)}`], true)).toBe('see ***')
  })

  test('letters that change their length with their case do not move the mask', () => {
    expect(withoutValues('İİİ secret-value', ['secret-value'], false)).toBe('İİİ ***')
  })

  test('a payload with more private values than can be looked for withholds the text', async () => {
    const { createRedactor } = await import('#dist/processing/redact.js')
    const { unverified } = await import('hookonce/providers')
    const sources = new Map([['shop', unverified({ id: 'json:id' })]])
    const { error } = createRedactor({ paths: ['**'] }, sources)
    const said = (values: unknown[]) => {
      const body = Buffer.from(JSON.stringify({ id: 'e', values }))
      const claimed = { source: 'shop', id: 'e', type: 't', reference: null, part: 0 }
      const headers = { 'content-type': 'application/json' }
      return error(new Error(`no ${'x'.repeat(20_000)}`), { ...claimed, headers, body } as never)
    }
    const many = Array.from({ length: 30_000 }, (_, i) => `a value ${i}`)
    expect(said(many.slice(0, 1_000))).toMatch(/^no x/)
    expect(said(many)).toContain('withheld')
    expect(said(new Array(300_000).fill(1))).toContain('withheld')
  })
})
