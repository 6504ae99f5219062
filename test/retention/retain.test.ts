/** Retention on both stores: what goes, what stays, and that a second delivery is known for as long as promised. */

import { type Inbox, type InboxOptions, silentLog } from 'hookonce'
import { archiveList, archiveRestore, archiveVerify } from 'hookonce/archive'
import { github } from 'hookonce/providers'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Counters } from '#dist/counters.js'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type RetainProgress, retain } from '#dist/retention/retain.js'
import { startSchedule } from '#dist/retention/schedule.js'
import { directoryArchive } from '../support/archives.js'
import { type LogLine, loggedInbox } from '../support/inboxes.js'
import { postgresHarness } from '../support/postgres-harness.js'
import { post, shop, until } from '../support/processing.js'
import { type OwnHarness, sqliteHarness } from '../support/sqlite-harness.js'

const DAY_MS = 86_400_000
const harnesses: Record<string, () => Promise<OwnHarness<never>>> = {
  SQLite: sqliteHarness as never,
  PostgreSQL: postgresHarness as never,
}

describe.each(Object.entries(harnesses))('on %s', (kind, makeHarness) => {
  let log: OwnHarness<never>
  const inboxes: Inbox[] = []
  beforeEach(async () => {
    log = await makeHarness()
  })
  afterEach(async () => {
    await Promise.all(inboxes.splice(0).map((inbox) => inbox.stop({ deadline: 100 })))
    await log.end()
  })

  async function open(
    options: Partial<InboxOptions> = {},
  ): Promise<{ inbox: Inbox; store: CompleteStore; handled: string[]; lines: LogLine[] }> {
    const store = (options.store as CompleteStore | undefined) ?? (await log.open())
    const { inbox, lines } = loggedInbox({ sources: { shop: shop() }, ...options, store })
    inboxes.push(inbox)
    const handled: string[] = []
    if (!options.sources)
      inbox.on('shop', '*', (event) => {
        handled.push(event.id)
      })
    return { inbox, store, handled, lines }
  }

  const get = (inbox: Inbox, eventId: string) => inbox.events.get({ source: 'shop', id: eventId })

  test('captured bytes on day 91 of a sender that signs no time are a duplicate, though the payload is gone', async () => {
    const source = github({ secret: 'a secret of the test' })
    const { inbox } = await open({ sources: { github: source } })
    const handled: string[] = []
    inbox.on('github', '*', (event) => void handled.push(event.id))
    const captured = await source.sign(source.sample({ now: Date.now(), id: 'a' }))
    await inbox.receive('github', captured)
    await inbox.drain()
    await log.advance(91 * DAY_MS)
    await inbox.retain()
    expect(await inbox.events.get({ source: 'github', id: 'a' })).toMatchObject({ payload: 'removed' })
    expect(await inbox.receive('github', captured)).toMatchObject({ status: 'already_processed' })
    await inbox.drain()
    expect(handled).toEqual(['a'])
  })

  test('the same id is a duplicate after its payload is gone, after its partition is dropped, and on day 89; on day 91 it is new', async () => {
    const { inbox, store, handled } = await open()
    await post(inbox, { id: 'a' })
    await post(inbox, { id: 'b' })
    await inbox.drain()
    const purged = await store.retention.prune({
      source: 'shop',
      payloadsBefore: Date.now() + DAY_MS,
      limit: 1,
    })
    expect(purged.payloads).toBe(1)
    expect((await get(inbox, 'a'))!.payload).toBe('removed')
    expect(await post(inbox, { id: 'a' })).toMatchObject({ status: 'already_processed', duplicate: true })

    await log.advance(62 * DAY_MS)
    const report = await inbox.retain()
    if (kind === 'PostgreSQL') expect(report.dropped.reduce((sum, one) => sum + one.payloads, 0)).toBe(1)
    else expect(report.sources.shop!.payloads).toBe(1)
    expect(await get(inbox, 'b')).toMatchObject({ payload: 'removed', state: 'succeeded' })
    for (const id of ['a', 'b'])
      expect(await post(inbox, { id })).toMatchObject({ status: 'already_processed', duplicate: true })
    expect(await inbox.events.payload({ source: 'shop', id: 'b' })).toBeNull()

    await log.advance(27 * DAY_MS) // day 89
    expect((await inbox.retain()).sources.shop!.events).toBe(0)
    expect(await post(inbox, { id: 'a' })).toMatchObject({ status: 'already_processed', duplicate: true })

    await log.advance(2 * DAY_MS) // day 91
    expect((await inbox.retain()).sources.shop!.events).toBe(2)
    expect(await get(inbox, 'a')).toBeNull()
    expect(await post(inbox, { id: 'a' })).toMatchObject({ status: 'accepted', duplicate: false })
    await inbox.drain()
    expect(handled.sort()).toEqual(['a', 'a', 'b'])
  })

  test('a dry run counts what a run removes, and what is not finished stays', async () => {
    const { inbox } = await open({ processing: { retry: { maxAttempts: 1 } } })
    inbox.on('shop', 'broken', () => {
      throw new Error('no')
    })
    for (const id of ['a', 'b', 'c']) await post(inbox, { id })
    await post(inbox, { id: 'dead', type: 'broken' })
    await inbox.drain()
    await post(inbox, { id: 'waits' })
    await inbox.ignore({ source: 'shop', id: 'waits' }, { actor: 'ada', note: 'x' })
    await inbox.replay({ source: 'shop', id: 'waits' })
    await log.advance(91 * DAY_MS)
    const dry = await inbox.retain({ dryRun: true })
    expect(dry.sources.shop).toMatchObject({ events: 3 })
    expect(await get(inbox, 'a')).not.toBeNull()
    const real = await inbox.retain()
    expect(real.dropped).toEqual(dry.dropped)
    // A payload goes with its event, so that fewer attempts and payloads are left to be counted on their own.
    expect(real.sources.shop).toMatchObject({ events: 3, payloads: dry.sources.shop!.payloads, audits: 2 })
    for (const id of ['dead', 'waits']) {
      expect((await get(inbox, id))!.payload).toBe('kept')
      expect(await inbox.events.payload({ source: 'shop', id: id })).not.toBeNull()
    }
    expect(await inbox.retain()).toMatchObject({ sources: { shop: { payloads: 0, events: 0 } } })
  })

  test('a run that is stopped between two portions is finished by the next', async () => {
    const { inbox } = await open({ retention: { batch: 2 } })
    const ids = Array.from({ length: 9 }, (_, i) => `e${i}`)
    for (const id of ids) await post(inbox, { id })
    await inbox.drain()
    await log.advance(100 * DAY_MS)
    const stop = new AbortController()
    const seen: RetainProgress[] = []
    const first = inbox.retain({
      signal: stop.signal,
      onProgress(progress) {
        seen.push(progress)
        if (seen.length === 2) stop.abort()
      },
    })
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    const left = (await inbox.events.list()).events.length
    expect(left).toBeLessThan(9)
    expect(left).toBeGreaterThan(0)
    expect((await inbox.retain()).sources.shop!.events).toBe(left)
    expect((await inbox.events.list()).events).toEqual([])
  })

  test('one process at a time, and a lease that is lost stops the one that had it', async () => {
    const store = await log.open()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let blocked = () => {}
    const blocking = new Promise<void>((resolve) => {
      blocked = resolve
    })
    const slow: CompleteStore = {
      ...store,
      retention: {
        ...store.retention,
        async prune(options) {
          blocked()
          await held
          return { ...(await store.retention.prune(options)), more: true }
        },
      },
    }
    const { inbox: one } = await open({ store: slow })
    const { inbox: other } = await open()
    await wholeInbox(one).store()
    const running = one.retain()
    await blocking
    expect(await other.retain()).toMatchObject({ busy: true })
    await log.advance(DAY_MS)
    expect(await other.retain()).toMatchObject({ busy: false })
    release()
    await expect(running).rejects.toMatchObject({ code: 'KEY_LOST' })
  })

  test('with an archive nothing goes that is not in it, also what arrives late, and all of it comes back', async () => {
    const archive = await directoryArchive()
    try {
      const { inbox, store } = await open({ retention: { archive: archive.target } })
      const bodies = new Map<string, string>()
      for (const [i, id] of ['a', 'b', 'c'].entries()) {
        await recordOld(store, id, Date.now() - i * DAY_MS)
        bodies.set(id, JSON.stringify({ id, type: 't' }))
      }
      await inbox.drain()
      await log.advance(62 * DAY_MS)
      expect((await inbox.retain()).sources.shop!.archived).toBe(3)
      expect((await get(inbox, 'a'))!.payload).toBe('removed')
      await recordOld(store, 'late', Date.now())
      bodies.set('late', JSON.stringify({ id: 'late', type: 't' }))
      await inbox.drain()
      expect((await inbox.retain()).sources.shop!.archived).toBe(1)
      expect((await get(inbox, 'late'))!.payload).toBe('removed')
      const manifests = []
      for await (const manifest of archiveList(archive.target)) manifests.push(manifest)
      expect(manifests.reduce((sum, one) => sum + one.deliveries, 0)).toBe(4)
      for await (const check of archiveVerify(archive.target)) expect(check.problems).toEqual([])
      const report = await archiveRestore({ store, target: archive.target, actor: 'ada', note: 'replay' })
      expect(report).toEqual({ restored: 4, skipped: 0, refused: 0 })
      for (const [eventId, body] of bodies)
        expect(
          Buffer.from((await store.inspect.payload({ source: 'shop', id: eventId }))!.body).toString(),
        ).toBe(body)
      expect(await inbox.replay({ source: 'shop', id: 'a' }, { force: true })).toMatchObject({
        done: true,
      })
      expect(await inbox.process('shop', 'a')).toEqual({ kind: 'succeeded' })
      const audits = (await store.audit.list({})).audits.map((one) => one.verb)
      expect(audits).toContain('restore')
      expect(audits).toContain('prune')
    } finally {
      await archive.remove()
    }
  })

  test('what arrives between the archive and the removal stays until it is archived too', async () => {
    const archive = await directoryArchive()
    const store = await log.open()
    const at = Date.now()
    let late = true
    const racing: CompleteStore = {
      ...store,
      retention: {
        ...store.retention,
        async maintain(options) {
          if (!options.dryRun && late) {
            late = false
            await recordOld(store, 'late', at)
            const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
            await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
          }
          return store.retention.maintain(options)
        },
      },
    }
    const { inbox } = await open({ store: racing, retention: { archive: archive.target } })
    await recordOld(store, 'a', at)
    await inbox.drain()
    await log.advance(100 * DAY_MS)
    await inbox.retain()
    expect(await get(inbox, 'a')).toBeNull()
    expect((await get(inbox, 'late'))!.payload).toBe('kept')
    await inbox.retain()
    expect(await get(inbox, 'late')).toBeNull()
    const kept = []
    for await (const manifest of archiveList(archive.target)) kept.push(manifest.deliveries)
    expect(kept).toEqual([2])
    await archive.remove()
  })

  test('an archive that cannot be written keeps everything', async () => {
    const archive = await directoryArchive()
    const broken = { ...archive.target, create: () => Promise.reject(new Error('no')) }
    const { inbox } = await open({ retention: { archive: broken } })
    await post(inbox, { id: 'a' })
    await inbox.drain()
    await log.advance(100 * DAY_MS)
    await expect(inbox.retain()).rejects.toThrow('no')
    expect((await get(inbox, 'a'))!.payload).toBe('kept')
    await archive.remove()
  })

  test('everything about a reference is erased, and a delivery that is being processed is waited for', async () => {
    const { inbox, store } = await open()
    for (const id of ['a', 'b', 'c']) await post(inbox, { id, ref: 'cus_1' })
    await post(inbox, { id: 'd', ref: 'cus_2' })
    const [claimed] = await store.claim({
      worker: 'w',
      limit: 1,
      leaseMs: 60_000,
      event: { source: 'shop', id: 'a' },
    })
    const by = { reference: 'cus_1', actor: 'ada', note: 'asked to' }
    expect(await inbox.erase({ ...by, dryRun: true })).toEqual({
      payloads: 2,
      events: 2,
      busy: 1,
      archived: [],
    })
    expect(await inbox.erase({ ...by, wait: 0 })).toEqual({ payloads: 2, events: 2, busy: 1, archived: [] })
    let progress = 0
    const erasing = inbox.erase({ ...by, onProgress: () => progress++ })
    await until(() => progress > 0, 'the first look')
    await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    expect(await erasing).toEqual({ payloads: 1, events: 1, busy: 0, archived: [] })
    expect((await get(inbox, 'a'))!.payload).toBe('erased')
    expect((await get(inbox, 'd'))!.payload).toBe('kept')
    expect(await post(inbox, { id: 'a', ref: 'cus_1' })).toMatchObject({ duplicate: true })
  })

  test('the daily run is done by one process, and not again the same day', async () => {
    const store = await log.open()
    const parts = { store, policy: new Map(), settings: {}, log: silentLog, counters: new Counters() }
    let looks = 0
    const counting = async () => {
      looks++
      return parts
    }
    const first = startSchedule(counting, parts, 1)
    await until(() => parts.counters.retention.runs === 1, 'the first run')
    const second = startSchedule(counting, parts, 1)
    await until(() => looks === 2, 'the second look')
    await first.stop()
    await second.stop()
    expect(parts.counters.retention).toMatchObject({ runs: 1, failures: 0 })
    await log.advance(DAY_MS)
    const third = startSchedule(counting, parts, 1)
    await until(() => parts.counters.retention.runs === 2, 'the next day')
    await third.stop()
  })
})

function recordOld(store: CompleteStore, id: string, receivedAt: number) {
  return store.record([
    {
      source: 'shop',
      headers: {},
      body: Buffer.from(JSON.stringify({ id, type: 't' })),
      events: [{ id: id, type: 't', reference: null, contentHash: null, guardHash: null }],
      contentGuard: 'review',
      receivedAt,
    },
  ])
}

test('few partitions ahead are an alarm in the log and in the counters', async () => {
  const log = await sqliteHarness()
  const store = await log.open()
  const counters = new Counters()
  const lines: string[] = []
  const few: CompleteStore = {
    ...store,
    retention: {
      ...store.retention,
      maintain: async (options) => ({ ...(await store.retention.maintain(options)), ahead: 1 }),
    },
  }
  const noisy = { ...silentLog, error: (_: object, message: string) => void lines.push(message) }
  await retain({ store: few, policy: new Map(), settings: {}, log: noisy, counters })
  expect(lines).toEqual(['payload partitions are running out'])
  expect(counters.retention).toMatchObject({ alarms: 1, partitionsAhead: 1 })
  await log.end()
})

test('a run that hangs at stop does not use up the time of the handlers: they are handed back', async () => {
  const log = await sqliteHarness()
  const real = await log.open()
  let begun = false
  const store: CompleteStore = {
    ...real,
    retention: {
      ...real.retention,
      maintain() {
        begun = true
        return new Promise(() => {}) // an archive far away, which answers no more
      },
    },
  }
  const { inbox } = loggedInbox({ sources: { shop: shop() }, store, ownsStore: false })
  let handling = false
  inbox.on('shop', '*', async (_event, { signal }) => {
    handling = true
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  await soon(() => inbox.start())
  await post(inbox, { id: 'a' })
  await until(() => begun && handling, 'both run')
  await inbox.stop({ deadline: 100 })
  // The lease is far longer than this waits.
  const event = () => real.get({ source: 'shop', id: 'a' })
  await expect.poll(event, { timeout: 20_000 }).toMatchObject({ state: 'pending', attempts: 0 })
  await log.end()
})

/** What is set for minutes from now comes at once. */
async function soon(work: () => Promise<void>): Promise<void> {
  const { setTimeout: set } = globalThis
  globalThis.setTimeout = ((run: () => void, ms: number) => set(run, ms > 60_000 ? 1 : ms)) as typeof set
  try {
    await work()
  } finally {
    globalThis.setTimeout = set
  }
}
