/** Starting and stopping in any order: after `stop` has resolved, no handler runs. */
import { createInbox, silentLog } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { post, shop, signal, until } from '../support/processing.js'

/** A store that is shared, so that events can be recorded and claimed after the inbox was stopped. */
function shared() {
  const store = sqlite(':memory:')
  const handled: string[] = []
  const make = (given: Partial<typeof store> = {}) => {
    const inbox = createInbox({
      store: { ...store, ...given },
      ownsStore: false,
      sources: { shop: shop() },
      log: silentLog,
    })
    inbox.on('shop', '*', (event) => void handled.push(event.id))
    return inbox
  }
  return { store, handled, make }
}

/** Another inbox on the log has handled an event, so the first had time to claim one. */
async function othersHaveRun({ make, handled }: ReturnType<typeof shared>): Promise<void> {
  const receiving = make()
  await post(receiving, { id: 'later' })
  expect(handled).toEqual([])
  await receiving.drain()
  expect(handled).toEqual(['later'])
  await receiving.stop()
}

test('start after stop is refused, and starts nothing', async () => {
  const log = shared()
  const claims: unknown[] = []
  const inbox = log.make({
    claim(options) {
      claims.push(options)
      return log.store.claim(options)
    },
  })
  await inbox.start()
  await inbox.stop()
  const before = claims.length
  await expect(inbox.start()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await othersHaveRun(log)
  expect(claims).toHaveLength(before)
  await log.store.close()
})

test('a store that opens after stop has resolved starts no handler', async () => {
  const log = shared()
  await log.store.migrate()
  const [begun, opening] = [signal(), signal()]
  const claims: unknown[] = []
  const inbox = log.make({
    async migrate() {
      begun.give()
      await opening.wait
      return log.store.migrate()
    },
    claim(options) {
      claims.push(options)
      return log.store.claim(options)
    },
  })
  const started = inbox.start().catch((error: { code?: string }) => error.code)
  await begun.wait
  await inbox.stop({ deadline: 1 })
  opening.give()
  expect(await started).toBe('STORE_CLOSED')
  await othersHaveRun(log)
  expect(claims).toEqual([])
  await log.store.close()
})

test('a subscription that begins after the stop is ended', async () => {
  const log = shared()
  const [asked, go] = [signal(), signal()]
  let ended = 0
  const inbox = log.make({
    async subscribe() {
      asked.give()
      await go.wait
      return async () => void ended++
    },
  })
  const started = inbox.start().catch(() => {})
  await asked.wait
  await inbox.stop({ deadline: 1 })
  go.give()
  await started
  expect(ended).toBe(1)
  await log.store.close()
})

test('a second stop waits for the first', async () => {
  const { store, handled, make } = shared()
  const [begun, running] = [signal(), signal()]
  const inbox = make()
  inbox.on('shop', 'slow', async (event) => {
    begun.give()
    await running.wait
    handled.push(event.id)
  })
  await inbox.start()
  await post(inbox, { id: 'a', type: 'slow' })
  await begun.wait
  const first = inbox.stop()
  const second = inbox.stop().then(() => handled.slice())
  running.give()
  await first
  expect(await second).toEqual(['a'])
  await store.close()
})

test('a start that fails starts nothing: events wait for a start that succeeds', async () => {
  const log = shared()
  await log.store.migrate()
  let fails = true
  let claims = 0
  const inbox = log.make({
    async migrate() {
      if (fails) throw new Error('not yet')
      return log.store.migrate()
    },
    claim(options) {
      claims++
      return log.store.claim(options)
    },
  })
  await expect(inbox.start()).rejects.toThrow('not yet')
  fails = false
  expect((await post(inbox, { id: 'e1' })).status).toBe('accepted')
  const other = log.make()
  await other.drain()
  expect(log.handled).toEqual(['e1'])
  expect(claims).toBe(0)
  await inbox.start()
  expect(await log.store.history.handled()).toMatchObject([{ source: 'shop' }])
  await inbox.stop()
  await other.stop()
  await log.store.close()
})

test('stop waits for a request whose event is recorded and not yet claimed', async () => {
  const store = sqlite(':memory:')
  const [asked, go] = [signal(), signal()]
  const inbox = createInbox({
    store: {
      ...store,
      record: (deliveries) => store.record(deliveries),
      async claim(options) {
        asked.give()
        await go.wait
        return store.claim(options)
      },
    },
    ownsStore: false,
    sources: { shop: shop({ mode: 'inline' }) },
    log: silentLog,
  })
  const handled: string[] = []
  inbox.on('shop', '*', (event) => void handled.push(event.id))
  const answer = post(inbox, { id: 'e1' })
  await asked.wait
  let stopped = false
  const stopping = inbox.stop().then(() => {
    stopped = true
  })
  // Enough turns for a stop that does not wait.
  await othersHaveEnded()
  expect(stopped).toBe(false)
  go.give()
  await stopping
  expect(handled).toEqual(['e1'])
  expect((await answer).status).toBe('processed')
  await store.close()
})

test('no event is claimed or begun while stop waits for a commit that hangs', async () => {
  const { store, handled, make } = shared()
  const hanging = signal()
  const claims: unknown[] = []
  const inbox = make({
    async record(deliveries) {
      if (deliveries.some(({ events }) => events[0]!.id === 'hangs')) await hanging.wait
      return store.record(deliveries)
    },
    claim(options) {
      claims.push(options)
      return store.claim(options)
    },
  })
  await inbox.start()
  await until(() => claims.length > 0, 'it claims')
  const late = post(inbox, { id: 'hangs' })
  const stopping = inbox.stop({ deadline: 1_500 })
  const before = claims.length
  const other = make()
  await post(other, { id: 'waits' })
  await stopping
  expect([handled, claims.length]).toEqual([[], before])
  hanging.give()
  await late
  await other.stop()
  await store.close()
})

/** Another inbox starts and stops in the meantime. */
async function othersHaveEnded(): Promise<void> {
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { shop: shop() }, log: silentLog })
  await inbox.start()
  await inbox.stop()
}
