/** After a crash: what the dead worker held is handled again, all together, and what killed it is found out. */
import type { Inbox, Store } from 'hookonce'
import { afterEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { type Bench, expireLeases, ids, onBothLogs, postAll, until } from '../support/processing.js'

const statsOf = async (inbox: Inbox) => (await inbox.events.stats())[0]!
const key = (eventId: string) => ({ source: 'shop', id: eventId })

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
})

function child(bench: Bench, told: object): Child {
  const args = [JSON.stringify(told), bench.log.insertEffect, ...bench.log.args]
  const started = startChild('./processing-child.mjs', args)
  children.push(started)
  return started
}

/** The store, with a count of its calls by name. */
function counted(store: Store): { store: Store; calls: Record<string, number> } {
  const calls: Record<string, number> = {}
  const proxy = new Proxy(store, {
    get(target, name: string) {
      const value = target[name as keyof Store]
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls[name] = (calls[name] ?? 0) + 1
        return (value as (...args: unknown[]) => unknown).apply(target, args)
      }
    },
  })
  return { store: proxy, calls }
}

onBothLogs((bench) => {
  describe('kill -9 of a worker that holds 500 events', () => {
    test('the next worker handles all of them soon after the end of the lease, in few calls', async () => {
      const leaseMs = 3_000
      const pollMs = 500
      const { store, calls } = counted(bench.store())
      const processing = { lease: 30_000, poll: pollMs, concurrency: 16 }
      const { inbox } = bench.inbox({ store, processing })
      const all = ids(500)
      await postAll(
        inbox,
        all.map((id) => ({ id })),
      )
      const holder = child(bench, { hold: true, processing: { lease: leaseMs, concurrency: 200 } })
      await until(async () => (await statsOf(inbox)).processing === 500, 'the child holds them all')
      await holder.kill()
      const killedAt = performance.now()
      const handled: string[] = []
      inbox.on('shop', '*', async (event) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        handled.push(event.id)
      })
      for (const name of Object.keys(calls)) delete calls[name]
      await inbox.start()
      await until(async () => (await statsOf(inbox)).succeeded === 500, 'all have succeeded')
      const tookMs = performance.now() - killedAt
      expect(handled.sort()).toEqual([...all].sort())
      expect(calls.attempts ?? 0).toBe(0)
      expect(calls.release ?? 0).toBe(0)
      // The others are polls while the leases last, and looks after the last event.
      expect(calls.claim).toBeLessThan(140 + tookMs / pollMs)
    })
  })

  describe('an event that kills its worker, among many that the worker holds', () => {
    // The fewest attempts that can be told from one, and more: each on one of the stores.
    test.each([bench.kind === 'SQLite' ? 2 : 4])(
      'with %i attempts it ends in the dead letters, and each neighbour is lost twice at most',
      async (maxAttempts) => {
        const { inbox } = bench.inbox()
        const others = ids(40)
        await postAll(
          inbox,
          [...others.slice(0, 20), 'poison', ...others.slice(20)].map((id) => ({ id })),
        )
        const told = {
          abortOn: 'poison',
          maxAttempts,
          // So long that nothing but a crash ends an attempt; the test lets the time pass.
          processing: { lease: 600_000, concurrency: 16 },
        }
        let over = false
        for (let crashes = 0; !over; crashes++) {
          expect(crashes).toBeLessThanOrEqual(maxAttempts)
          let ended = false
          const worker = child(bench, told)
          worker.ended().then(() => {
            ended = true
          })
          await until(async () => {
            const { succeeded, dead } = await statsOf(inbox)
            over = succeeded + dead === 41
            return over || ended
          }, 'the worker dies or all is done')
          await expireLeases(bench)
        }
        expect(await inbox.events.get(key('poison'))).toMatchObject({ state: 'failed', nextAttemptAt: null })
        expect((await bench.log.effects()).sort()).toEqual([...others].sort())
        expect(await statsOf(inbox)).toMatchObject({ succeeded: 40, dead: 1 })
        for (const id of others) {
          const lost = (await inbox.events.attempts(key(id))).filter(({ outcome }) => outcome === 'lost')
          expect(lost.length).toBeLessThanOrEqual(2)
        }
      },
    )
  })
})
