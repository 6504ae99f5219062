/** PostgreSQL goes away under steady deliveries: with a spool every one is acknowledged and ends up in the log once. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { until } from '../support/processing.js'
import { expectAllInOrder, type Senders, senderSources, startSenders, toInbox } from '../support/senders.js'

const seconds = Number(process.env.HOOKONCE_CHAOS_SECONDS ?? 2)
const perSecond = Number(process.env.HOOKONCE_CHAOS_RATE ?? 50)
const patienceMs = 60_000 + 4 * seconds * 1_000

let server: TestPostgres
let folder: string
let round = 0
const open: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  server = await startPostgres()
  folder = await mkdtemp(join(tmpdir(), 'hookonce-spool-'))
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(async () => {
  await server.remove()
  await rm(folder, { recursive: true, force: true })
})

function inboxOn(spooled: boolean): Inbox {
  const schema = `outage_${++round}`
  const store = postgres({ url: server.url, schema })
  const spool = { path: join(folder, `${schema}.db`), after: 300 }
  const inbox = createInbox({ store, sources: senderSources(), log: silentLog, ...(spooled && { spool }) })
  open.push(
    () => store.close(),
    () => inbox.stop(),
  )
  return inbox
}

function sending(inbox: Inbox, retry = false): Senders {
  const senders = startSenders(toInbox(inbox), { perSecond, retry })
  open.push(() => senders.stop())
  return senders
}

const some = (senders: Senders, count: number) => {
  const from = senders.answered.length
  return until(() => senders.answered.length >= from + count, `${count} more answers`, patienceMs)
}
const outage = () => new Promise((resolve) => setTimeout(resolve, seconds * 1_000))

const ways: Record<string, { away(): Promise<void>; back(): Promise<void> }> = {
  stopped: { away: () => server.stop(), back: () => server.restart() },
  'killed with kill -9': { away: () => server.kill9(), back: () => server.restart() },
  frozen: { away: () => server.freeze(), back: () => server.thaw() },
}

for (const [name, { away, back }] of Object.entries(ways)) {
  test(
    `a server that is ${name}: every delivery is acknowledged, and recorded once, in the order of its source`,
    async () => {
      const inbox = inboxOn(true)
      await inbox.start()
      const senders = sending(inbox)
      await some(senders, 10)
      await away()
      await outage()
      await until(
        async () => (await inbox.spool!.status()).storeAway,
        'it knows that the store is away',
        patienceMs,
      )
      const isSpooled = () => senders.answered.filter(({ status }) => status === 'spooled').length > 10
      await until(isSpooled, 'deliveries are spooled', patienceMs)
      await back()
      await until(
        async () => !(await inbox.spool!.status()).storeAway && (await inbox.spool!.status()).depth === 0,
        'the spool is drained while deliveries go on',
        patienceMs,
      )
      const direct = senders.answered.filter(({ status }) => status === 'accepted').length
      await until(
        () => senders.answered.filter(({ status }) => status === 'accepted').length >= direct + 10,
        'deliveries go to the log again',
        patienceMs,
      )
      const answered = await senders.stop()
      const spooled = answered.filter(({ status }) => status === 'spooled')
      if (process.env.HOOKONCE_CHAOS_SECONDS)
        console.info(`${name} for ${seconds} s: ${answered.length} answered, ${spooled.length} spooled`)
      expect(answered.filter(({ httpStatus }) => httpStatus >= 300)).toEqual([])
      expect(spooled.length).toBeGreaterThan(10)
      await until(async () => (await inbox.spool!.status()).depth === 0, 'empty', patienceMs)
      await expectAllInOrder(await wholeInbox(inbox).store(), answered)
      await until(async () => (await inbox.spool!.status()).lastError === null, 'no error', patienceMs)
    },
    patienceMs * 2,
  )
}

test(
  'without a spool the answer is 503, and the retries of the sender succeed later',
  async () => {
    const inbox = inboxOn(false)
    await inbox.start()
    const senders = sending(inbox, true)
    await some(senders, 10)
    await server.stop()
    await some(senders, 10)
    await server.restart()
    const before = senders.answered.length
    await until(
      () => senders.answered.slice(before).filter(({ httpStatus }) => httpStatus === 200).length >= 10,
      'deliveries are recorded again',
      patienceMs,
    )
    const answered = await senders.stop()
    const refused = answered.filter(({ httpStatus }) => httpStatus >= 300)
    expect(new Set(refused.map(({ httpStatus, status }) => `${httpStatus} ${status}`))).toEqual(
      new Set(['503 unavailable']),
    )
    await expectAllInOrder(await wholeInbox(inbox).store(), answered)
  },
  patienceMs,
)

test(
  'a process that starts while the database is away takes deliveries, and handles them when it is back',
  async () => {
    await server.stop()
    const inbox = inboxOn(true)
    const handled: string[] = []
    inbox.on('s0', '*', async (event) => void handled.push(event.id))
    await inbox.start()
    const receipt = await toInbox(inbox)('s0', Buffer.from('{"id":"early","type":"t"}'))
    expect(receipt).toMatchObject({ httpStatus: 202, status: 'spooled', eventId: 'early', duplicate: false })
    expect(JSON.parse(receipt.body)).toEqual({ status: 'spooled', event_id: 'early', duplicate: false })
    await server.restart()
    await until(() => handled.length === 1, 'its handler runs', patienceMs)
    expect(handled).toEqual(['early'])
  },
  patienceMs,
)
