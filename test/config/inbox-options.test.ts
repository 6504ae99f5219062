import { createInbox, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { stripe } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'

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
  expect(make({ log: 'error' })().log.warn).toBeTypeOf('function')
})

test('a store refuses an unknown option', () => {
  expect(() => sqlite('events.db', { busyTimeout: 1 } as never)).toThrow('did you mean "busyTimeoutMs"?')
  expect(() => postgres({ url: 'postgres://localhost/x', maxConections: 1 } as never)).toThrow(
    'did you mean "maxConnections"?',
  )
})

test('a source refuses an unknown option', () => {
  expect(() => stripe({ secret: 'whsec_0123456789abcdef', tolerance: 1 } as never)).toThrow('tolerance')
})
