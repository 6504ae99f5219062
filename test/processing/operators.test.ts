/** Operators' verbs on one event and on many, and what happens when they race the workers. */

import { type Inbox, permanent } from 'hookonce'
import { describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import {
  type Bench,
  ids,
  onBothLogs,
  post,
  postAll,
  quickRetry,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'

const key = (eventId: string, source = 'shop') => ({ source, id: eventId })

/** One event in each state an order may find, by name. */
async function oneOfEach(bench: Bench): Promise<{ inbox: Inbox; runs: string[] }> {
  const { inbox } = bench.inbox({ processing: { lease: 5_000, retry: { firstDelay: 3_600_000 } } })
  const runs: string[] = []
  inbox.on('shop', '*', (event, ctx) => {
    runs.push(event.id)
    if (ctx.run > 1) return
    if (event.id === 'dead') throw permanent('no')
    if (event.id === 'retrying') throw new Error('later')
    if (event.id === 'ignored') ctx.ignore('so')
  })
  await postAll(
    inbox,
    ['dead', 'retrying', 'ignored', 'succeeded'].map((id) => ({ id })),
  )
  await inbox.drain()
  await postAll(inbox, [{ id: 'pending' }])
  runs.length = 0
  return { inbox, runs }
}

onBothLogs((bench) => {
  describe('on one event', () => {
    test('what was done is in the audits, newest first, and the log can be followed from a position', async () => {
      const { inbox } = await oneOfEach(bench)
      const { events, position } = await inbox.events.tail({ after: 0, limit: 10 })
      expect(events.map((event) => event.id)).toEqual(['dead', 'retrying', 'ignored', 'succeeded', 'pending'])
      await inbox.ignore(key('dead'), { actor: 'ada', note: 'known' })
      await inbox.retry(key('dead'), { actor: 'bob', note: 'mended' })
      const { audits } = await inbox.events.audits({ eventId: 'dead' })
      expect(audits.map(({ actor, verb, note }) => `${actor} ${verb} ${note}`)).toEqual([
        'bob retry mended',
        'ada ignore known',
      ])
      await postAll(inbox, [{ id: 'later' }])
      const next = await inbox.events.tail({ after: position, limit: 10 })
      expect(next.events.map((event) => event.id)).toEqual(['later'])
    })

    test('each verb does what the states allow, says why not, and changes nothing then', async () => {
      const { inbox } = await oneOfEach(bench)
      const done = { done: true }
      const no = (code: string) => ({ done: false, code })
      const table = {
        retry: {
          pending: no('MOVE_FORBIDDEN'),
          succeeded: no('MOVE_FORBIDDEN'),
          dead: done,
          retrying: done,
          ignored: done,
        },
        replay: {
          pending: no('MOVE_FORBIDDEN'),
          succeeded: no('FORCE_NEEDED'),
          dead: done,
          retrying: done,
          ignored: done,
        },
        ignore: {
          pending: done,
          succeeded: no('MOVE_FORBIDDEN'),
          dead: done,
          retrying: done,
          ignored: no('MOVE_FORBIDDEN'),
        },
      } as const
      for (const verb of ['retry', 'replay', 'ignore'] as const) {
        for (const [id, expected] of Object.entries(table[verb])) {
          const before = await inbox.events.get(key(id))
          // Asked first, with nothing changed by the asking.
          expect([verb, id, await inbox[verb](key(id), { dryRun: true })]).toMatchObject([verb, id, expected])
          expect(await inbox.events.get(key(id))).toEqual(before)
        }
        expect(await inbox[verb](key('nobody'))).toEqual(no('EVENT_NOT_FOUND'))
      }
      expect(await bench.rows('select * from log.audit')).toEqual([])
      expect(await inbox.retry(key('dead'))).toMatchObject({ done: true, from: 'failed', to: 'pending' })
      expect(await inbox.replay(key('ignored'))).toMatchObject({ done: true, from: 'ignored', to: 'pending' })
      expect(await inbox.ignore(key('retrying'))).toMatchObject({ done: true, from: 'failed', to: 'ignored' })
      expect(await inbox.replay(key('succeeded'))).toEqual(no('FORCE_NEEDED'))
      expect(await stateOf(inbox, 'succeeded')).toBe('succeeded')
    })

    test('a retry gives all attempts anew in the same run, a replay begins the next run', async () => {
      const { inbox } = bench.inbox()
      const seen: [number, number][] = []
      inbox.on(
        'shop',
        '*',
        (_event, ctx) => {
          seen.push([ctx.run, ctx.attempt])
          if (seen.length < 5) throw new Error('no')
        },
        { retry: { ...quickRetry, maxAttempts: 2 } },
      )
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.process('shop', 'e1')
      await inbox.process('shop', 'e1')
      await inbox.retry(key('e1'))
      await inbox.process('shop', 'e1')
      await inbox.replay(key('e1'))
      await inbox.process('shop', 'e1')
      await inbox.process('shop', 'e1')
      expect(seen).toEqual([
        [1, 1],
        [1, 2],
        [1, 1],
        [2, 1],
        [2, 2],
      ])
      expect(await inbox.events.get(key('e1'))).toMatchObject({ state: 'succeeded', run: 2, attempts: 5 })
      expect((await inbox.events.attempts(key('e1'))).map((one) => one.attempt)).toEqual([1, 2, 3, 4, 5])
    })

    test('everything is refused while the event is processing', async () => {
      const { inbox } = bench.inbox()
      const started = signal()
      const end = signal()
      inbox.on('shop', '*', async () => {
        started.give()
        await end.wait
      })
      await inbox.start()
      await post(inbox, { id: 'e1' })
      await started.wait
      for (const verb of ['retry', 'replay', 'ignore'] as const) {
        expect(await inbox[verb](key('e1'), { force: true })).toEqual({
          done: false,
          code: 'EVENT_PROCESSING',
        })
      }
      expect(await inbox.process('shop', 'e1')).toBeNull()
      end.give()
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it is done')
      expect((await inbox.events.attempts(key('e1'))).map((one) => one.outcome)).toEqual(['succeeded'])
    })

    test('what was ordered is in the audit, with who and why, and what was refused is not', async () => {
      const { inbox } = await oneOfEach(bench)
      await inbox.retry(key('dead'), { actor: 'ada', note: 'fixed the price list' })
      await inbox.replay(key('succeeded'), { actor: 'bob', note: 'customer asked', force: true })
      await inbox.ignore(key('pending'), { actor: 'eve' })
      await inbox.replay(key('retrying'), { actor: 'eve', dryRun: true })
      await inbox.retry(key('nobody'), { actor: 'eve' })
      const audit = await bench.rows('select actor, verb, source, event_id, note from log.audit order by id')
      expect(audit.map((row) => ({ ...row }))).toEqual([
        { actor: 'ada', verb: 'retry', source: 'shop', event_id: 'dead', note: 'fixed the price list' },
        { actor: 'bob', verb: 'replay', source: 'shop', event_id: 'succeeded', note: 'customer asked' },
        { actor: 'eve', verb: 'ignore', source: 'shop', event_id: 'pending', note: '' },
      ])
    })

    test('a forced replay of what has succeeded runs it again and keeps what its effects recorded', async () => {
      const { inbox } = bench.inbox()
      let mails = 0
      inbox.on('shop', '*', async (event, ctx) => {
        await bench.write(ctx.tx, `${event.id} run ${ctx.run}`)
        await ctx.once('mail', () => void mails++)
      })
      await postAll(inbox, [{ id: 'e1' }])
      await inbox.drain()
      expect(await inbox.replay(key('e1'), { force: true })).toMatchObject({ done: true, from: 'succeeded' })
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(['e1 run 1', 'e1 run 2'])
      expect(mails).toBe(1)
    })
  })

  describe('on a filter', () => {
    async function dead(count: number): Promise<{ inbox: Inbox; runs: string[] }> {
      const { inbox } = bench.inbox({ sources: { shop: shop(), other: shop() } })
      const runs: string[] = []
      for (const source of ['shop', 'other']) {
        inbox.on(source, '*', (event, ctx) => {
          if (ctx.run === 1) throw permanent('no')
          runs.push(event.id)
        })
      }
      await postAll(
        inbox,
        ids(count).map((id) => ({ id })),
      )
      await postAll(inbox, [{ id: 'else' }], 'other')
      await inbox.drain()
      return { inbox, runs }
    }

    test('a dry run counts and changes nothing; the order itself moves every event it found, with progress', async () => {
      const { inbox, runs } = await dead(450)
      const filter = { source: 'shop', state: 'failed', dead: true } as const
      expect(await inbox.replay(filter, { dryRun: true })).toEqual({ matched: 450, done: 450, refused: {} })
      expect(await inbox.drain()).toBe(0)
      const progress: number[] = []
      const onProgress = (so: { done: number }) => void progress.push(so.done)
      expect(await inbox.replay(filter, { onProgress })).toEqual({ matched: 450, done: 450, refused: {} })
      expect(progress.length).toBeGreaterThan(1)
      expect(progress).toEqual([...progress].sort((a, b) => a - b))
      expect(progress.at(-1)).toBe(450)
      expect((await inbox.events.stats()).find((one) => one.source === 'other')?.dead).toBe(1)
      await inbox.drain()
      expect([...new Set(runs)]).toHaveLength(450)
      expect(runs).toHaveLength(450)
    })

    test('a filter that names one event is that event', async () => {
      const { inbox } = await dead(2)
      expect(await inbox.replay({ source: 'shop', id: 'e0', state: 'failed' })).toEqual({
        matched: 1,
        done: 1,
        refused: {},
      })
      expect(await stateOf(inbox, 'e0')).toBe('pending')
      expect(await stateOf(inbox, 'e1')).toBe('failed')
    })

    test('what may not be moved is counted by the reason', async () => {
      const { inbox } = await oneOfEach(bench)
      const result = await inbox.replay({ source: 'shop' }, {})
      expect(result).toEqual({ matched: 5, done: 3, refused: { FORCE_NEEDED: 1, MOVE_FORBIDDEN: 1 } })
    })

    test('what has no payload any more is counted by the reason too, also in a dry run', async () => {
      const { inbox } = await oneOfEach(bench)
      const store = await wholeInbox(inbox).store()
      await store.retention!.prune({ source: 'shop', payloadsBefore: Date.now() + 1_000, limit: 100 })
      const refused = { PAYLOAD_REMOVED: 2, MOVE_FORBIDDEN: 1 }
      for (const dryRun of [true, false]) {
        const result = await inbox.replay({ source: 'shop' }, { force: true, dryRun })
        expect(result).toEqual({ matched: 5, done: 2, refused })
      }
      await inbox.drain()
      expect([await stateOf(inbox, 'succeeded'), await stateOf(inbox, 'ignored')]).toEqual([
        'succeeded',
        'ignored',
      ])
    })

    test('a rate holds it back, and a signal ends it between two pages', async () => {
      const { inbox } = await dead(40)
      const startedAt = performance.now()
      const filter = { source: 'shop', state: 'failed' } as const
      expect(await inbox.replay(filter, { ratePerSecond: 50 })).toMatchObject({ done: 40 })
      const tookMs = performance.now() - startedAt
      expect(tookMs).toBeGreaterThan(500)
      expect(tookMs).toBeLessThan(30_000)

      const abort = new AbortController()
      const stopped = await inbox.ignore(
        { source: 'shop', state: 'pending' },
        { ratePerSecond: 50, signal: abort.signal, onProgress: () => abort.abort() },
      )
      expect(stopped.done).toBe(10)
      expect((await inbox.events.stats()).find((one) => one.source === 'shop')).toMatchObject({
        ignored: 10,
        pending: 30,
      })
      expect(
        await inbox.ignore({ source: 'shop', state: 'pending' }, { signal: abort.signal }),
      ).toMatchObject({ done: 0 })
      await expect(inbox.retry(filter, { ratePerSecond: 0 })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    })
  })

  describe('racing the workers', () => {
    test('1,000 orders at random beside two workers: never two runs at once, no order lost, the counts agree', async () => {
      const names = ids(5)
      const processing = {
        lease: 10_000,
        poll: 10,
        concurrency: 4,
        retry: { firstDelay: 1, maxDelay: 4, maxAttempts: 3 },
      }
      const inboxes = [bench.inbox({ processing }).inbox, bench.inbox({ processing }).inbox]
      const running = new Set<string>()
      const overlaps: string[] = []
      /** The highest run each event has been seen in, and how often each was handled. */
      const seenRun = new Map<string, number>()
      let calls = 0
      for (const inbox of inboxes) {
        inbox.on('shop', '*', async (event, ctx) => {
          if (running.has(event.id)) overlaps.push(event.id)
          running.add(event.id)
          calls++
          try {
            seenRun.set(event.id, Math.max(seenRun.get(event.id) ?? 0, ctx.run))
            const dice = Math.random()
            if (dice < 0.3) await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
            if (dice < 0.15) await bench.write(ctx.tx, `${event.id} ${ctx.run}`)
            if (dice > 0.9) throw permanent('no')
            if (dice > 0.8) throw new Error('later')
            if (dice > 0.75) ctx.ignore('so')
          } finally {
            running.delete(event.id)
          }
        })
      }
      await postAll(
        inboxes[0]!,
        names.map((id) => ({ id })),
      )
      await Promise.all(inboxes.map((inbox) => inbox.start()))

      const accepted = { retry: 0, replay: 0, ignore: 0 }
      let left = 1_000
      async function orderer(inbox: Inbox): Promise<void> {
        while (left-- > 0) {
          const verb = (['retry', 'replay', 'ignore'] as const)[Math.floor(Math.random() * 3)]!
          const id = names[Math.floor(Math.random() * names.length)]!
          const result = await inbox[verb](key(id), { force: true, actor: 'chaos' })
          if (result.done) accepted[verb]++
          else expect(['EVENT_PROCESSING', 'MOVE_FORBIDDEN']).toContain(result.code)
        }
      }
      await Promise.all([0, 1, 0, 1].map((i) => orderer(inboxes[i]!)))
      const [inbox] = inboxes as [Inbox]
      const settled = async () => {
        const stats = (await inbox.events.stats())[0]!
        return stats.pending + stats.processing + stats.retrying === 0
      }
      await until(settled, 'everything is settled')

      expect(overlaps).toEqual([])
      expect(accepted.replay).toBeGreaterThan(20)
      const orders = await bench.rows(
        "select verb, event_id from log.audit where actor = 'chaos' order by id",
      )
      for (const verb of ['retry', 'replay', 'ignore'] as const) {
        expect([verb, orders.filter((row) => row.verb === verb).length]).toEqual([verb, accepted[verb]])
      }
      let attempts = 0
      const states = { succeeded: 0, ignored: 0, failed: 0 }
      for (const id of names) {
        const event = (await inbox.events.get(key(id)))!
        const own = await inbox.events.attempts(key(id))
        const ordered = orders.filter((row) => row.event_id === id)
        attempts += own.length
        states[event.state as keyof typeof states]++
        // Each replay is a run of its own; each attempt has its number once, and none was lost.
        expect(event.run).toBe(1 + ordered.filter((row) => row.verb === 'replay').length)
        expect(own.map((one) => one.attempt)).toEqual(own.map((_, i) => i + 1))
        expect(own.filter((one) => one.outcome === 'lost')).toEqual([])
        // The last order led to a run or is itself the last word.
        const last = ordered.at(-1)?.verb
        if (last === 'ignore') expect(event).toMatchObject({ state: 'ignored', reason: 'operator' })
        else if (last === 'replay') expect([own.at(-1)?.run, seenRun.get(id)]).toEqual([event.run, event.run])
        if (last !== 'ignore') expect(event.state).toBe(own.at(-1)?.outcome)
      }
      expect(calls).toBe(attempts)
      expect((await inbox.events.stats())[0]).toMatchObject({
        recorded: 5,
        succeeded: states.succeeded,
        ignored: states.ignored,
        dead: states.failed,
      })
    })
  })
})
