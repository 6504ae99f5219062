/** A store without capabilities: it receives and processes, and each feature names the capability that it needs. */
import { createInbox, type InboxOptions, lru, reply, type Store, silentLog } from 'hookonce'
import { archiveRun, directory } from 'hookonce/archive'
import { unverified } from 'hookonce/providers'
import { admin } from 'hookonce/server'
import { type SqliteTx, sqlite } from 'hookonce/sqlite'
import { type StoreHarness, storeContract, storeContractFor } from 'hookonce/testing/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { type Capability, capabilities } from '#dist/store.js'
import { sqliteHarness } from '../support/sqlite-harness.js'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

/** The store with only these capabilities. Without `duplicates` it counts at once, as the contract says. */
function only<Tx>(store: Store<Tx>, kept: readonly Capability[]): Store<Tx> {
  const stripped: { -readonly [K in keyof Store<Tx>]: Store<Tx>[K] } = {
    ...store,
    async record(deliveries) {
      const verdicts = await store.record(deliveries)
      if (!kept.includes('duplicates')) await store.duplicates!.flush()
      return verdicts
    },
    async transaction(options) {
      const { keys, ...transaction } = await store.transaction(options)
      return { ...transaction, ...(kept.includes('keys') && keys && { keys }) }
    },
  }
  for (const name of capabilities) if (!kept.includes(name)) delete stripped[name]
  return stripped
}

function bareStore(): Store<SqliteTx> {
  const store = only(sqlite(':memory:'), [])
  opened.push(store)
  return store
}

const bareInbox = (options: Partial<InboxOptions<SqliteTx>> = {}) =>
  createInbox({
    store: bareStore(),
    sources: { shop: unverified({ id: 'json:id', type: 'json:type', reference: 'json:about' }) },
    log: silentLog,
    ...options,
  })

const event = (id: string) => ({
  method: 'POST',
  url: 'http://x/webhooks/shop',
  headers: {},
  body: Buffer.from(JSON.stringify({ id, type: 'order.paid', about: 'order 1' })),
})

const lacks = (capability: Capability, feature: string | RegExp) => ({
  code: 'STORE_LACKS',
  message: expect.stringMatching(
    new RegExp(
      `has no \`${capability}\`, and ${feature instanceof RegExp ? feature.source : feature} needs it`,
    ),
  ),
})

test('an inbox on a store without capabilities receives, answers duplicates and processes', async () => {
  const inbox = bareInbox()
  const handled: string[] = []
  inbox.on('shop', '*', async ({ id }, { tx }) => {
    await tx.get('select 1')
    handled.push(id)
  })
  await inbox.start()
  expect((await inbox.receive('shop', event('a'))).status).toBe('accepted')
  await inbox.drain()
  expect((await inbox.receive('shop', event('a'))).status).toBe('already_processed')
  expect(handled).toEqual(['a'])
  expect(await inbox.events.get({ source: 'shop', id: 'a' })).toMatchObject({
    state: 'succeeded',
    deliveries: 2,
  })
  expect((await inbox.replay({ source: 'shop', id: 'a' }, { force: true })).done).toBe(true)
  await inbox.drain()
  expect(handled).toEqual(['a', 'a'])
  await inbox.stop()
})

describe('a feature whose capability is missing names it when the inbox is made:', () => {
  const made = (options: Partial<InboxOptions<SqliteTx>>) => () => bareInbox(options)
  test('seen', () => {
    expect(made({ seen: lru() })).toThrow(expect.objectContaining(lacks('keys', 'the option seen')))
  })
  test('retention', () => {
    expect(made({ retention: { payloads: '1d' } })).toThrow(
      expect.objectContaining(lacks('retention', 'the option retention')),
    )
    expect(made({ retention: false })).not.toThrow()
  })
  test('retention.archive', () => {
    const store = only(sqlite(':memory:'), ['retention', 'keys'])
    opened.push(store)
    expect(made({ store, retention: { archive: directory('unused') } })).toThrow(
      expect.objectContaining(lacks('archive', 'the option retention.archive')),
    )
  })
  test('the handler option consumer', () => {
    expect(() => bareInbox().on('shop', '*', () => {}, { consumer: 'mail' })).toThrow(
      expect.objectContaining(lacks('consumers', 'the handler option consumer')),
    )
  })
  test('the handler option stale', () => {
    expect(() => bareInbox().on('shop', '*', () => {}, { stale: () => 1 })).toThrow(
      expect.objectContaining(lacks('keys', 'the handler option stale')),
    )
  })
})

describe('a feature whose capability is missing names it when it is called:', () => {
  test('inbox.once, retain, erase, payload, attempts, pause, audits', async () => {
    const inbox = bareInbox()
    const key = { source: 'shop', id: 'a' }
    await expect(inbox.once('k', () => 1)).rejects.toMatchObject(lacks('keys', 'inbox.once'))
    await expect(inbox.retain()).rejects.toMatchObject(lacks('retention', 'removing expired rows'))
    await expect(inbox.erase({ reference: 'r', actor: 'ada', note: '' })).rejects.toMatchObject(
      lacks('archive', 'erasing payloads'),
    )
    await expect(inbox.events.payload(key)).rejects.toMatchObject(lacks('inspect', 'inbox.events.payload'))
    await expect(inbox.events.attempts(key)).rejects.toMatchObject(lacks('inspect', 'inbox.events.attempts'))
    await expect(inbox.pause('shop')).rejects.toMatchObject(lacks('pauses', 'inbox.pause'))
    await expect(inbox.events.audits()).rejects.toMatchObject(lacks('audit', 'inbox.events.audits'))
    await inbox.stop()
  })

  test('ctx.once', async () => {
    const inbox = bareInbox()
    let thrown: unknown
    inbox.on('shop', '*', async (_, ctx) => {
      thrown = await ctx.once('mail', () => 1).catch((error: unknown) => error)
    })
    await inbox.receive('shop', event('a'))
    await inbox.drain()
    expect(thrown).toMatchObject(lacks('keys', 'ctx.once'))
    await inbox.stop()
  })

  test('reply', async () => {
    const inbox = bareInbox()
    inbox.on('shop', '*', () => reply('hello'))
    await inbox.receive('shop', event('a'))
    await inbox.drain()
    const { reason } = (await inbox.events.get({ source: 'shop', id: 'a' })) ?? {}
    expect(reason).toContain('has no `replies`, and reply(...) needs it')
    await inbox.stop()
  })

  test('an archive run', async () => {
    const run = archiveRun({ store: bareStore(), target: directory('unused'), source: 'shop', before: 1 })
    await expect(run).rejects.toMatchObject(lacks('archive', 'archiving'))
  })

  test('audits in the admin API', async () => {
    const inbox = bareInbox()
    const api = admin(inbox, { authorize: () => ({ actor: 'ann', role: 'admin' }), hosts: ['x'] })
    const response = await api.fetch(new Request('http://x/api/audits'))
    expect(response.status).toBe(501)
    expect(await response.json()).toMatchObject({ code: 'STORE_LACKS' })
    await inbox.stop()
  })
})

test('the contract for a store names each case that is left out', () => {
  const cases = storeContractFor({
    ...{ keys: {}, retention: {}, audit: {}, inspect: {}, duplicates: {}, history: {}, imports: {} },
    ...{ consumers: {}, replies: {}, grants: {}, pauses: {}, reconciles: {} },
  })
  expect(cases).toHaveLength(storeContract.length)
  const left = cases.filter(({ skip }) => skip !== undefined)
  expect(left.length).toBeGreaterThan(5)
  for (const { name, needs } of left) {
    expect(needs).toContain('archive')
    expect(name).toMatch(/\(left out: the store has no archive\)$/)
  }
})

/**
 * A case that calls a capability without naming it would fail on a store that lacks it. All cases run in `npm run chaos`;
 * the few that count duplicates, because they differ most between stores, also run here.
 */
const chosen = storeContract.filter(
  ({ name, needs }) =>
    process.env.HOOKONCE_CHAOS_ROUNDS || (needs.length === 0 && name.includes('duplicate')),
)
describe('a case of the contract calls only the capabilities that it names:', () => {
  for (const { name, needs, run } of chosen) {
    test(name, async () => {
      const real = await sqliteHarness()
      const harness: StoreHarness<SqliteTx> = {
        ...real,
        open: async (options) => only(await real.open(options), needs),
      }
      try {
        await run(harness as StoreHarness)
      } finally {
        await real.end()
      }
    })
  }
})
