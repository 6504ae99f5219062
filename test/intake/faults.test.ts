/** A store that is not open, and a source with a bug: the answers, the counters and the log lines. */
import { HookonceError, type InboxOptions, type Source } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox } from '../support/inboxes.js'
import { post, shop } from '../support/processing.js'

function make(source: Partial<Source> = {}, store: InboxOptions['store'] = sqlite(':memory:')) {
  const { inbox, lines } = loggedInbox({ store, sources: { shop: { ...shop(), ...source } } })
  return { inbox, lines, counters: wholeInbox(inbox).counters }
}

/** Each throws an error whose message quotes the delivery. */
const bugs: Record<string, (fail: () => never) => Partial<Source>> = {
  handshake: (fail) => ({ handshake: fail }),
  verify: (fail) => ({ verify: fail }),
  identify: (fail) => ({ identify: fail }),
  guarded: (fail) => ({ guarded: fail }),
  'verify, later': (fail) => ({ verify: async () => fail() }),
}

test.each(Object.entries(bugs))(
  'a source whose rule throws (%s) is a 500, and the log says where',
  async (_name, bug) => {
    const ruleWithABug = (): never => {
      throw new TypeError('cannot read the secret-payload')
    }
    const { inbox, lines, counters } = make(bug(ruleWithABug))
    expect(await post(inbox, { id: 'a' })).toMatchObject({
      httpStatus: 500,
      status: 'failed',
      reason: 'UNEXPECTED',
    })
    expect({ ...counters.of('shop').rejected }).toEqual({ UNEXPECTED: 1 })
    expect({ ...counters.storeErrors }).toEqual({})
    const line = lines.find(({ level }) => level === 'error')
    expect(line).toMatchObject({ source: 'shop', step: 'receive', error: 'TypeError' })
    expect(line!.stack).toContain('ruleWithABug')
    expect(JSON.stringify(lines)).not.toContain('secret-payload')
    await inbox.stop()
  },
)

test('a store with a bug is a 503, and the log says where', async () => {
  const store = sqlite(':memory:')
  const { inbox, lines, counters } = make(
    {},
    {
      ...store,
      async record() {
        throw new TypeError('secret-payload')
      },
    },
  )
  expect(await post(inbox, { id: 'a' })).toMatchObject({ httpStatus: 503, reason: 'UNEXPECTED' })
  expect({ ...counters.storeErrors }).toEqual({ UNEXPECTED: 1 })
  expect(lines.find(({ level }) => level === 'error')!.stack).toContain('record')
  expect(JSON.stringify(lines)).not.toContain('secret-payload')
  await inbox.stop()
})

test('a store that cannot be opened stops only deliveries that are to be recorded', async () => {
  const store = sqlite(':memory:')
  let opens = 0
  const { inbox, lines, counters } = make(
    {
      handshake: ({ method }) => (method === 'GET' ? { httpStatus: 200, headers: {}, body: 'hello' } : null),
      verify: ({ headers }) =>
        headers.forged ? { ok: false, reason: 'bad_signature' } : { ok: true, secretIndex: 0 },
    },
    {
      ...store,
      async migrate() {
        opens++
        throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
      },
    },
  )
  const send = (source: string, given: object) =>
    inbox.receive(source, {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: {},
      body: Buffer.from('{"id":"a"}'),
      ...given,
    })
  expect(await send('shop', { method: 'GET' })).toMatchObject({ httpStatus: 200, body: 'hello' })
  expect(await send('nobody', {})).toMatchObject({ httpStatus: 404 })
  expect(await send('shop', { method: 'PUT' })).toMatchObject({ httpStatus: 405 })
  expect(await send('shop', { headers: { forged: 'yes' } })).toMatchObject({ httpStatus: 401 })
  expect(opens).toBe(0)
  expect(await send('shop', {})).toMatchObject({ httpStatus: 503, reason: 'STORE_UNAVAILABLE' })
  expect(opens).toBe(1)
  expect(lines.find(({ level }) => level === 'error')).toMatchObject({
    source: 'shop',
    msg: 'store not open',
  })
  expect({ ...counters.storeErrors }).toEqual({ STORE_UNAVAILABLE: 1 })
  expect(counters.of('shop')).toMatchObject({ received: 4, handshakes: 1 })
  await inbox.stop()
})
