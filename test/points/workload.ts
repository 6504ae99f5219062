/**
 * Everything an inbox does, with a fault at one point of one process, and a second process that goes on. The driver is a
 * sender and an operator: it repeats what was not acknowledged, at either process, as they do.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type EventKey, type Inbox, lru, postpone, reply, type Store, silentLog } from 'hookonce'
import { archiveRestore, directory } from 'hookonce/archive'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { expect } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { post, shop } from '../support/processing.js'
import type { OwnHarness } from '../support/sqlite-harness.js'
import { type Fault, FaultyProcess } from './faults.js'
import { points } from './points.js'

const LEASE_MS = 60_000
/** A process that gives no answer for so long is left alone. */
const PATIENCE_MS = 1_500
/** Retention and restore make and read archives. A call that is left alone goes on, and the next one finds it busy. */
const LONG_PATIENCE_MS = 15_000
const INSIST_MS = 120_000
const SETTLED_MS = 60_000
const types = [
  'plain',
  'tx',
  'once',
  'in-tx',
  'stale',
  'fails',
  'later',
  'slow',
  'limited',
  'many',
  'many',
] as const

export async function runWithFault<Tx>(
  log: OwnHarness<Tx>,
  real: CompleteStore<Tx>,
  point: string,
  fault: Fault,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-points-'))
  const source = `s${randomBytes(5).toString('hex')}`
  const asking = `${source}-asking`
  const faulty = new FaultyProcess(point, fault)
  const counts = new Map<string, number>()
  // A store of its own where it is closed: the others go on with theirs.
  const ownsStore = point === 'log.close'
  const own = ownsStore ? await log.open() : real
  // A lease of a dead process in the spool file ends with the process, which is still there in this test.
  const spooling = ['intake', 'drain'].includes(points[point]!) && !fault.startsWith('kill')
  const leaseMs = point === 'log.extend' ? 150 : LEASE_MS
  const first = makeInbox(faulty.store(own as CompleteStore), faulty)
  const second = makeInbox(real as CompleteStore, null)
  const secondStarted = faulty.happened.wait.then(() => second.start())
  const isReached = () => faulty.hasHappened

  function makeInbox(store: ReturnType<FaultyProcess['store']>, process: FaultyProcess | null): Inbox {
    const target = directory(join(folder, 'archive'))
    const inbox = createInbox({
      store,
      sources: { [source]: shop(), [asking]: shop({ mode: 'inline' }) },
      seen: lru(),
      limits: { recordTimeout: 400 },
      retention: { payloads: 0, events: '90d', archive: process ? process.target(target) : target },
      processing: { lease: leaseMs, poll: 20, retry: { firstDelay: 1, maxDelay: 5, maxAttempts: 50 } },
      log: silentLog,
      ownsStore: process !== null && ownsStore,
      ...(spooling && { spool: { path: join(folder, 'spool.db'), after: 100 } }),
    })
    const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
    const effect = (tx: unknown, id: string) => log.insertEffect(tx as Tx, `${source}/${id}`)
    inbox.on(source, 'plain', (event) => void count(event.id))
    inbox.on(source, 'tx', (event, ctx) => effect(ctx.tx, event.id))
    inbox.on(source, 'tx', (event, ctx) => effect(ctx.tx, `mail ${event.id}`), { consumer: 'mail' })
    inbox.on(source, 'once', (event, ctx) => ctx.once('mail', () => void count(event.id)))
    inbox.on(source, 'in-tx', async (event, ctx) => {
      await effect(ctx.tx, event.id)
      await ctx.once('mail', () => void count(event.id))
    })
    inbox.on(source, 'stale', (event, ctx) => effect(ctx.tx, event.id), { stale: () => 1 })
    inbox.on(source, 'fails', async (event, ctx) => {
      await effect(ctx.tx, event.id)
      if (count(event.id).get(event.id) === 1) throw new Error('the first time it fails')
    })
    inbox.on(source, 'later', (event) => {
      if (count(event.id).get(event.id) === 1) throw postpone(1)
    })
    inbox.on(source, 'slow', async () => {
      // Until a heartbeat was sent.
      if (point === 'log.extend' && process) await within(faulty.happened.wait).catch(() => {})
    })
    inbox.on(asking, '*', async (event, ctx) => {
      await effect(ctx.tx, `asked ${event.id}`)
      return reply(`to ${event.id}`, { status: 201 })
    })
    inbox.on(source, 'limited', (event, ctx) => effect(ctx.tx, event.id), {
      limit: { concurrency: 1, perSecond: 100 },
    })
    inbox.onBatch(source, 'many', async (events, ctx) => {
      for (const event of events) await effect(ctx.tx, event.id)
    })
    return inbox
  }

  /** Until it succeeds: at the first process while it answers, else at the second. */
  async function insist<T>(
    what: string,
    act: (inbox: Inbox) => Promise<T>,
    patienceMs = PATIENCE_MS,
  ): Promise<T> {
    let problem: unknown
    const limit = performance.now() + INSIST_MS
    for (let tries = 0; performance.now() < limit; tries++) {
      try {
        return await within(act(faulty.isSilent ? second : first), patienceMs)
      } catch (error) {
        problem = error
        await recover(tries)
      }
    }
    throw new Error(`${point} ${fault}: ${what} did not succeed: ${String(problem)}`)
  }

  /**
   * Time passes: leases end, and a frozen process goes on. Not every time: whoever has taken over needs time for its
   * own attempts.
   */
  async function recover(tries: number): Promise<void> {
    if (isReached() && tries % 40 === 3) {
      await log.advance(2 * LEASE_MS)
      if (fault === 'freeze') await new Promise((resolve) => setTimeout(resolve, 60))
      faulty.thaw()
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }

  async function send(id: string, type: string, statuses: readonly number[]): Promise<void> {
    await insist(`the delivery of ${id}`, async (inbox) => {
      const { httpStatus } = await post(inbox, { id, type, ref: id }, source)
      if (!statuses.includes(httpStatus)) throw new Error(`answered ${httpStatus}`)
    })
  }

  /** Each delivery gets the reply of the one handler call that was committed. */
  async function ask(id: string): Promise<void> {
    await insist(`the reply to ${id}`, async (inbox) => {
      const { httpStatus, body } = await post(inbox, { id }, asking)
      if (httpStatus !== 201) throw new Error(`answered ${httpStatus}`)
      expect(body).toBe(`to ${id}`)
    })
  }

  async function settled(ids: readonly string[]): Promise<void> {
    const keys = ids.map((id) => ({ source, id }))
    for (const key of [...keys, ofConsumer]) {
      let state: string | undefined
      // SQLite ends a transaction that nobody could roll back after some seconds, and everything else waits for it.
      const limit = performance.now() + SETTLED_MS
      for (let tries = 0; state !== 'succeeded' && performance.now() < limit; tries++) {
        state = (await real.get(key))?.state
        if (state !== 'succeeded') await recover(tries)
      }
      expect(`${key.source} ${key.id} ${state}`).toBe(`${key.source} ${key.id} succeeded`)
    }
  }

  const payloadOf = (event: EventKey) => real.inspect.payload(event)
  const ids = types.map((type, i) => `${type}-${i}`)
  const key = { source, id: ids[0]! }
  const ofConsumer = { source: `${source}/mail`, id: ids[types.indexOf('tx')]! }
  try {
    await insist('the start', (inbox) => inbox.start())
    for (const [i, id] of ids.entries()) await send(id, types[i]!, [200, 202])
    await settled(ids)
    for (const [i, id] of ids.entries()) await send(id, types[i]!, [200, 202])
    await ask('q')
    await ask('q')
    await insist('a replay', async (inbox) => {
      const { done } = await inbox.replay(key, { force: true, actor: 'test' })
      if (!done && (await real.get(key))?.run === 1) throw new Error('not replayed')
    })
    await settled(ids)
    await insist('a pause', async (inbox) => {
      await inbox.pause(source, 'another')
      await inbox.resume(source, 'another')
      if ((await inbox.pauses()).length > 0) throw new Error('still paused')
    })
    const result = await insist('once', (inbox) =>
      inbox.once(`${source}:k`, () => randomBytes(4).toString('hex'), { lease: 1_000, wait: 1_000 }),
    )
    expect(await second.once(`${source}:k`, () => 'another')).toBe(result)
    await insist('reads', async (inbox) => {
      const store = await wholeInbox(inbox).store()
      await store.audit!.append([{ actor: 'test', verb: 'look', source, eventId: null, note: '' }])
      const page = await inbox.events.list({ source })
      expect(page.events.length).toBe(ids.length)
      expect((await inbox.events.get(key))?.state).toBe('succeeded')
      expect(await inbox.events.payload(key)).not.toBeNull()
      await Promise.all([
        inbox.events.attempts(key),
        inbox.events.stats(),
        inbox.events.audits(),
        store.ping(),
      ])
      await inbox.events.tail({ after: 0, limit: 10 })
      await readAll(store, key)
    })
    const retain = async (inbox: Inbox) => {
      const { busy } = await inbox.retain({ sources: [source] })
      if (busy) throw new Error('busy')
      // PostgreSQL removes payloads by the partition, when its month is over.
      if (real.singleWriter && (await payloadOf(key)) !== null) throw new Error('the payload is still there')
    }
    await insist('retention', retain, LONG_PATIENCE_MS)
    const restore = async (inbox: Inbox) => {
      const real = directory(join(folder, 'archive'))
      const target = inbox === first ? faulty.target(real) : real
      await archiveRestore({
        store: await wholeInbox(inbox).store(),
        target,
        source,
        actor: 'test',
        note: 'asked',
      })
      if ((await payloadOf(key)) === null) throw new Error('the payload is not back')
    }
    await insist('a restore', restore, LONG_PATIENCE_MS)
    await insist('an erasure', (inbox) =>
      inbox.erase({ reference: ids[0]!, source, actor: 'test', note: 'asked', wait: 1_000 }),
    )
    expect(await payloadOf(key)).toBeNull()
    await settled(ids)
    await within(first.stop({ deadline: 100 })).catch(() => {})
    await verify()
  } finally {
    faulty.thaw()
    faulty.happened.give()
    await within(
      Promise.all([secondStarted, first.stop({ deadline: 100 }), second.stop({ deadline: 1_000 })]),
    ).catch(() => {})
    await rm(folder, { recursive: true, force: true })
  }

  async function verify(): Promise<void> {
    expect(`reached: ${isReached()}`).toBe('reached: true')
    for (const [i, id] of ids.entries()) {
      const hasEffect = ['tx', 'in-tx', 'stale', 'fails', 'limited', 'many'].includes(types[i]!)
      const effects = await log.countEffects(`${source}/${id}`)
      expect(`${id} has ${effects} effects`).toBe(`${id} has ${hasEffect ? 1 : 0} effects`)
    }
    expect(await log.countEffects(`${source}/mail ${ofConsumer.id}`)).toBe(1)
    expect(await log.countEffects(`${source}/asked q`)).toBe(1)
    const { events } = await real.list({ source })
    expect(events.map(({ id }) => id).sort()).toEqual([...ids].sort())
  }
}

/** What the dashboard and the command line read. */
async function readAll(store: Store, key: EventKey): Promise<void> {
  const inspect = store.inspect!
  await Promise.all([inspect.report(), inspect.effects(key), inspect.conflict(key), inspect.leases()])
  await Promise.all([inspect.standings([1]), inspect.oldest(10)])
  await inspect.openConflicts(10)
  await Promise.all([inspect.deadLetters({ limit: 10 }), inspect.types(10), inspect.idsFrom('p', 10)])
  const process = { id: 'p', version: '0', node: '20', host: 'h', pid: 1, worker: null }
  await store.history!.add({ counts: [{ source: key.source, name: 'looked', value: 1 }], process })
  await store.grants!.list({ limit: 10 })
  await store.history!.read({ from: 0, to: 3_600_000, stepMs: 60_000 })
  await store.history!.processes()
  await store.history!.handled()
  await store.replies!.get(key)
  // The log has this event: an import changes nothing.
  await store.imports!.known([key])
  await store.reconciles!.note({ id: randomUUID(), source: key.source, report: '{}' })
  await store.reconciles!.runs({ limit: 1 })
  await store.imports!.add([
    {
      ...{
        source: key.source,
        id: key.id,
        type: 'order.paid',
        reference: null,
        receivedAt: 1,
      },
      ...{ processedAt: null, state: 'succeeded', reason: null, payload: null },
    },
  ])
}

async function within<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), patienceMs)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
