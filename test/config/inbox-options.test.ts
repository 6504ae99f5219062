import { createInbox, retryAfter, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { hmac, stripe, unverified } from 'hookonce/providers'
import { createServer } from 'hookonce/server'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { configKeys } from '#dist/config/check.js'
import { wholeInbox } from '#dist/inbox/internals.js'

const sources = { stripe: stripe({ secret: 'whsec_0123456789abcdef' }) }
const make = (options: object) => () =>
  createInbox({ store: 'sqlite::memory:', sources, log: silentLog, ...options } as never)

test('createInbox refuses an unknown option and names the one that is meant', () => {
  expect(make({ retension: { payloads: '30d' } })).toThrow(
    'createInbox(options).retension is not an option; did you mean "retention"?',
  )
})

test.each([
  [{ log: 'verbose' }, 'log must be a logger with debug, info, warn and error, or "debug"'],
  [{ log: console.log }, 'log must be a logger'],
  [{ store: undefined }, 'store is missing; it must be a store, or its URL'],
  [{ sources: undefined }, 'sources is missing'],
  [{ processing: { concurency: 4 } }, 'processing.concurency is not an option; did you mean "concurrency"?'],
  [{ tracing: 'yes' }, 'tracing must be true or false, not text'],
  [{ retention: { payload: '30d' } }, 'did you mean "payloads"?'],
])('createInbox refuses %o', (options, message) => {
  expect(make(options)).toThrow(message)
})

test('a level is a log, as in the configuration file', () => {
  expect(wholeInbox(make({ log: 'error' })()).log.warn).toBeTypeOf('function')
})

test.each([
  [{ maxBites: 1 }, 'maxBites is not an option; did you mean "maxBytes"?'],
  [{ maxBytes: 0 }, 'maxBytes must be a whole number, 1 or more, not 0'],
  [{ busyTimeout: '11m' }, "busyTimeout must be a duration from 1 ms to 10 minutes, such as '30s' or 30000"],
  [{ transactionTimeout: 0 }, 'transactionTimeout must be a duration'],
  [{ clock: Date }, 'clock must be a clock with now()'],
])('sqlite() refuses %o', (options, message) => {
  expect(() => sqlite('events.db', options as never)).toThrow(message)
})

test.each([
  [{ maxConections: 1 }, 'maxConections is not an option; did you mean "maxConnections"?'],
  [{ maxConnections: '6' }, 'maxConnections must be a whole number from 1 to 1000, not text'],
  [{ maxTransactions: 1.5 }, 'maxTransactions must be a whole number from 1 to 1000, not 1.5'],
  [{ statementTimeout: 'soon' }, 'statementTimeout must be a duration from 1 ms to 10 minutes'],
  [{ prepare: 'no' }, 'prepare must be true or false, not text'],
  [{ partitions: 'week' }, 'partitions must be "month" or "day", not text'],
  [{ ssl: 'require' }, 'ssl must be true or false, or the TLS options of Node, not text'],
  [{ password: 7 }, 'password must be text, or a function that returns it, not 7'],
  [{ pool: {} }, 'pool must be a pool of node-postgres, not an object'],
])('postgres() refuses %o', (options, message) => {
  expect(() => postgres({ url: 'postgres://localhost/x', ...options } as never)).toThrow(message)
})

test('stores take a duration as text or as milliseconds', async () => {
  await sqlite(':memory:', { busyTimeout: '2s', transactionTimeout: 2_000 }).close()
  for (const statementTimeout of ['2s', 2_000] as const)
    await postgres({ url: 'postgres://localhost/x', statementTimeout }).close()
})

test('a source refuses an unknown option', () => {
  expect(() => stripe({ secret: 'whsec_0123456789abcdef', tolerence: 1 } as never)).toThrow('tolerance')
})

test('every duration is a text or a number of milliseconds, and no option has a unit in its name', async () => {
  expect(configKeys.filter((key) => /Ms$/.test(key))).toEqual([])
  for (const [short, long] of [
    ['1s', '1m'],
    [1_000, 60_000],
  ] as const) {
    const source = unverified({
      id: 'json:id',
      tolerance: short,
      retryWindow: long,
      retention: { events: long },
    })
    const inbox = createInbox({
      store: 'sqlite::memory:',
      sources: { shop: source },
      log: 'silent',
      processing: { lease: long, poll: short, retry: { firstDelay: short, maxDelay: long } },
      limits: { bodyTimeout: short, recordTimeout: long },
      retention: { payloads: short, events: long },
    })
    inbox.on('shop', '*', () => {}, { timeout: long })
    expect(wholeInbox(inbox).limits).toMatchObject({ bodyTimeoutMs: 1_000, recordMs: 60_000 })
    expect(wholeInbox(inbox).sources.get('shop')!.retryWindowMs).toBe(60_000)
    expect(await inbox.once('key', () => 7, { lease: short, ttl: long, wait: short })).toBe(7)
    const server = createServer(inbox, { drain: short, lameDuck: 0, admin: { session: long } })
    await server.close({ deadline: short })
    expect(retryAfter(long)).toMatchObject({ delayMs: 60_000 })
  }
})

test('a duration that is none is refused by name', async () => {
  const inbox = createInbox({ store: 'sqlite::memory:', sources: {}, log: 'silent' })
  await expect(inbox.once('key', () => 7, { lease: 'soon' as never })).rejects.toThrow(
    'lease must be a duration',
  )
  await expect(inbox.stop({ deadline: -1 })).rejects.toThrow('stop({ deadline }) must be a duration')
  expect(() => retryAfter('soon' as never)).toThrow("retryAfter: soon is not a duration such as '30s'")
  const timestamp = { in: 'header:x-time', unit: 's', tolerance: 'soon' as never } as const
  expect(() => hmac({ secret: 'a secret of sixteen', header: 'x-sign', id: 'json:id', timestamp })).toThrow(
    'timestamp.tolerance must be a duration',
  )
  await inbox.stop()
})
