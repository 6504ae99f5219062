import { createInbox, type RetentionAges, type RetentionOptions, type Source } from 'hookonce'
import { adyen, github, razorpay, stripe, unverified } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { ageText, durationText, parseDuration } from '#dist/duration.js'
import { retentionPolicy } from '#dist/retention/policy.js'

const DAY_MS = 86_400_000
const plain = unverified({ id: 'json:id', type: 'json:type' })
const sources = new Map([['shop', plain]])
const of = (options: RetentionOptions) => retentionPolicy(options, sources).get('shop')

test('payloads are kept for 30 days and the rest for 90 unless told otherwise', () => {
  expect(of({})).toEqual({
    payloads: 30 * DAY_MS,
    events: 90 * DAY_MS,
    attempts: 90 * DAY_MS,
    audits: 90 * DAY_MS,
  })
  expect(of({ events: '10d' })).toMatchObject({ payloads: 10 * DAY_MS, attempts: 10 * DAY_MS })
})

test('what a source says of itself goes before what is said of all', () => {
  const own = (retention: RetentionAges) =>
    retentionPolicy(
      { payloads: '5d', attempts: 5 },
      new Map([['shop', unverified({ id: 'json:id', retention })]]),
    ).get('shop')
  expect(own({ payloads: '2d', events: 172_800_000 })).toMatchObject({
    payloads: 2 * DAY_MS,
    events: 2 * DAY_MS,
    attempts: 5,
  })
  expect(own({ events: 'forever' })?.events).toBe(Number.POSITIVE_INFINITY)
  for (const wrong of [{ payloads: 'soon' }, { payload: '2d' }])
    expect(() => own(wrong as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})

test('ages are numbers with a unit, or milliseconds', () => {
  expect(['500ms', '90s', '5m', '12h', '30d', '2w', '1.5h'].map(parseDuration)).toEqual([
    500,
    90_000,
    300_000,
    43_200_000,
    30 * DAY_MS,
    14 * DAY_MS,
    5_400_000,
  ])
  const sources = new Map([['a', stripe({ secret: `whsec_${'a'.repeat(32)}` })]])
  for (const bad of ['', '30', 'd', '-1d', '1y', '1 day', Number.NaN, -1, 1.5, '999999999w', {}])
    expect(() => retentionPolicy({ events: bad as never }, sources), String(bad)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
})

test('a duration is written in the largest unit that is exact', () => {
  const texts = [30 * DAY_MS, DAY_MS, 80 * 3_600_000, 5_400_000, 90_000, 1_234_567, 1_500, 5].map(
    durationText,
  )
  expect(texts).toEqual([
    '30 days',
    '1 day',
    '80 hours',
    '1.5 hours',
    '1.5 minutes',
    '20.6 minutes',
    '1.5 seconds',
    '5 ms',
  ])
})

test('events are not kept for less than the provider retries, and the window is named', () => {
  const make = (retention: RetentionOptions) =>
    createInbox({
      store: 'sqlite::memory:',
      sources: { pay: stripe({ secret: `whsec_${'a'.repeat(32)}` }) },
      retention,
    })
  expect(() => make({ events: '1d' })).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining('3 days') }),
  )
  expect(() => make({ events: '3d' })).not.toThrow()
  expect(adyen({ secret: 'ab'.repeat(32) }).retryWindowMs).toBeLessThanOrEqual(90 * DAY_MS)
})

test('what cannot be meant is refused when the inbox is made', () => {
  const bad: unknown[] = [
    { payloads: '91d' },
    { events: 'soon' },
    { payload: '30d' },
    { sources: { nobody: { events: '90d' } } },
    { sources: { shop: { event: '90d' } } },
    { format: 'csv' },
    { batch: 0 },
  ]
  for (const options of bad)
    expect(() => of(options as RetentionOptions)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }))
})

test('a time that has passed is written in its largest unit, whatever its milliseconds are', () => {
  const ages = [420_000, 420_400, 420_437, 80 * 3_600_000, 59_900, 999.6, 0]
  expect(ages.map(ageText)).toEqual([
    '7 minutes',
    '7 minutes',
    '7 minutes',
    '3.3 days',
    '59.9 seconds',
    '999.6 ms',
    '0 ms',
  ])
})

test('events of a sender that signs no time are kept for ever, unless told otherwise; their attempts and audits are not', () => {
  const secret = 'a secret of the test'
  const own = new Map<string, Source>([
    ['github', github({ secret })],
    ['razorpay', razorpay({ secret })],
    ['stripe', stripe({ secret })],
  ])
  const policy = retentionPolicy({}, own)
  for (const name of ['github', 'razorpay'])
    expect(policy.get(name)).toMatchObject({
      events: Number.POSITIVE_INFINITY,
      payloads: 30 * DAY_MS,
      attempts: 90 * DAY_MS,
      audits: 90 * DAY_MS,
    })
  expect(policy.get('stripe')?.events).toBe(90 * DAY_MS)
  expect(retentionPolicy({ events: '365d' }, own).get('github')?.events).toBe(365 * DAY_MS)
  expect(of({ events: 'forever' })?.events).toBe(Number.POSITIVE_INFINITY)
})
