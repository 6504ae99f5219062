/** A PostgreSQL that stands still (SIGSTOP) keeps no sender waiting: 503 in time, or the spool. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Inbox, type InboxOptions, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { ids, post, shop, until } from '../support/processing.js'
import { idsBySource } from '../support/senders.js'
import { afterwards } from '../support/serving.js'

const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)
const recordMs = 1_000
/** The deadline, and what a busy machine may take beside it. Without one it took 27 s for half of the senders. */
const mostMs = recordMs + 15_000

let server: TestPostgres
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

function inboxOn(options: Partial<InboxOptions> = {}): Inbox {
  const store = postgres({ url: server.url, schema: `frozen_${++schemas}` })
  const inbox = createInbox({
    store,
    sources: { shop: shop() },
    limits: { recordTimeout: recordMs },
    log: silentLog,
    ...options,
  })
  afterwards(() => store.close())
  afterwards(() => inbox.stop({ deadline: 500 }))
  return inbox
}

/** Before the server stands still; on a busy machine the first delivery may need longer than the limit. */
function recorded(inbox: Inbox, id: string): Promise<void> {
  return until(async () => (await post(inbox, { id })).httpStatus === 200, `${id} is recorded`)
}

async function timed(inbox: Inbox, names: readonly string[]) {
  return Promise.all(
    names.map(async (id) => {
      const from = performance.now()
      const receipt = await post(inbox, { id, note: 'x'.repeat(1_000) })
      return { ...receipt, ms: performance.now() - from }
    }),
  )
}

test(
  'without a spool every delivery is answered 503 with Retry-After in time, and is recorded once when it comes again',
  async () => {
    const inbox = inboxOn()
    await inbox.start()
    const sent: string[] = []
    for (let round = 0; round < rounds; round++) {
      await recorded(inbox, `before-${round}`)
      const names = ids(1_000, `r${round}-`)
      sent.push(`before-${round}`, ...names)
      await server.freeze()
      try {
        const answers = await timed(inbox, names)
        expect(new Set(answers.map(({ httpStatus }) => httpStatus))).toEqual(new Set([503]))
        expect(answers[0]!.headers).toMatchObject({ 'retry-after': '5' })
        expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(mostMs)
      } finally {
        await server.thaw()
      }
      let left: readonly string[] = names
      const again = async () => {
        const answers = await timed(inbox, left)
        left = left.filter((_, i) => answers[i]!.httpStatus !== 200)
        return left.length === 0
      }
      await until(again, 'their retries are recorded')
    }
    const store = await wholeInbox(inbox).store()
    const stored = [...(await idsBySource(store)).values()].flat()
    expect(stored.sort()).toEqual(sent.sort())
  },
  120_000 * rounds,
)

test('with a spool every delivery is spooled in time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-frozen-'))
  afterwards(() => rm(folder, { recursive: true, force: true }))
  // The spool alone would wait a minute for the store, longer than a sender waits.
  const inbox = inboxOn({
    spool: { path: join(folder, 'spool.db'), after: 60_000 },
    limits: { recordTimeout: 4_000 },
  })
  await inbox.start()
  await recorded(inbox, 'before')
  await server.freeze()
  try {
    const answers = await timed(inbox, ids(50))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['spooled']))
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(20_000)
  } finally {
    await server.thaw()
  }
  await until(async () => (await inbox.spool!.status()).depth === 0, 'it is drained')
})

test('a process that cannot open its log answers 503 in time', async () => {
  await server.freeze()
  try {
    const [answer] = await timed(inboxOn(), ['e1'])
    expect(answer).toMatchObject({ httpStatus: 503, status: 'unavailable' })
    expect(answer!.ms).toBeLessThan(mostMs)
  } finally {
    await server.thaw()
  }
})
