/** Whatever a handler throws ends its attempt: nothing that is thrown can cost a lease, or touch a neighbour. */
import { permanent, retryAfter } from 'hookonce'
import { expect, test } from 'vitest'
import { ids, onLog, postAll, stateOf } from '../support/processing.js'

function no(): never {
  throw new Error('hands off')
}

const everyTrap = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((trap) => [trap, no]),
) as ProxyHandler<object>

const thrown: Record<string, () => unknown> = {
  'a proxy that throws whatever is asked': () => new Proxy({}, everyTrap),
  'a proxy of an error': () => new Proxy(new Error('x'), everyTrap),
  'a proxy of a function': () => new Proxy(() => {}, everyTrap),
  'a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable(new Error('x'), {})
    revoke()
    return proxy
  },
  'getters that throw': () =>
    Object.defineProperties(new Error('x'), {
      name: { get: no },
      message: { get: no },
      cause: { get: no },
      stack: { get: no },
      errors: { get: no },
    }),
  'a name and a message that are no texts': () =>
    Object.assign(new Error('x'), { name: Object.create(null), message: { toString: no } }),
  'an error that causes itself': () => {
    const error = new Error('circle')
    error.cause = error
    return error
  },
  'errors that hold each other': () => {
    const outer = new AggregateError([], 'all failed')
    outer.errors = [outer, outer, outer]
    return outer
  },
  'a list of errors that cannot be read': () =>
    Object.assign(new AggregateError([]), { errors: new Proxy([1, 2, 3], everyTrap) }),
  'a cause that cannot be read': () => new Error('outside', { cause: new Proxy({}, everyTrap) }),
  'a stack of 32 MiB': () => Object.assign(new Error('tall'), { stack: '    at x\n'.repeat(3_700_000) }),
  'a message of 64 MiB': () => new Error('long '.repeat(13_000_000)),
  'a symbol': () => Symbol('s'),
  'an object without a prototype': () => Object.create(null),
  'a permanent proxy': () => permanent(new Proxy({}, everyTrap)),
  'a proxy to retry': () => retryAfter(1, new Proxy({}, everyTrap)),
}

onLog('SQLite', (bench) => {
  test('each ends as failed at its first attempt, and its neighbours succeed', async () => {
    const { inbox, lines } = bench.inbox({ redact: { stack: true } })
    const names = Object.keys(thrown)
    inbox.on('shop', '*', (event) => {
      const make = thrown[names[Number(event.id.slice(1))] ?? '']
      if (event.id.startsWith('h') && make) throw make()
    })
    const hostile = ids(names.length, 'h')
    await postAll(
      inbox,
      [...hostile, ...ids(5)].map((id) => ({ id })),
    )
    expect(await inbox.drain()).toBeGreaterThanOrEqual(names.length + 5)
    for (const id of ids(5)) expect([id, await stateOf(inbox, id)]).toEqual([id, 'succeeded'])
    for (const [i, id] of hostile.entries()) {
      const [first] = await inbox.events.attempts({ source: 'shop', id: id })
      expect([names[i], first?.outcome]).toEqual([names[i], 'failed'])
      expect(first?.detail?.length).toBeGreaterThan(0)
    }
    expect(lines.filter((line) => line.level === 'error')).toEqual([])
  })

  test('a reason to ignore that is no text is a reason all the same', async () => {
    const { inbox } = bench.inbox()
    const reasons = [undefined, 7, Symbol('s'), new Proxy({}, everyTrap), { toString: no }, 'a\0b\u001b[31m']
    inbox.on('shop', '*', (event, ctx) => ctx.ignore(reasons[Number(event.id.slice(1))] as string))
    await postAll(
      inbox,
      ids(reasons.length).map((id) => ({ id })),
    )
    await inbox.drain()
    for (const id of ids(reasons.length)) expect([id, await stateOf(inbox, id)]).toEqual([id, 'ignored'])
  })

  test('a group whose handler throws such a thing is run one by one', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.onBatch('shop', '*', (events) => {
      if (events.some((event) => event.id === 'e1')) throw new Proxy({}, everyTrap)
    })
    await postAll(
      inbox,
      ids(4).map((id) => ({ id })),
    )
    await inbox.drain()
    for (const id of ['e0', 'e2', 'e3']) expect([id, await stateOf(inbox, id)]).toEqual([id, 'succeeded'])
    expect(await stateOf(inbox, 'e1')).toBe('failed')
    expect(lines.filter((line) => line.level === 'error')).toEqual([])
  })
})
