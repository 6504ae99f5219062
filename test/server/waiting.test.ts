/** The admin API says why events wait: in a page at once, and about the one that was received first. */
import type { Store } from 'hookonce'
import { afterEach, expect, test } from 'vitest'
import { ids, onBothLogs, post, postAll, shop } from '../support/processing.js'
import { type RunningAdmin, startAdmin } from './support.js'

let running: RunningAdmin
afterEach(() => running.stop())

interface Event {
  readonly id: string
  readonly waiting: Record<string, unknown> | null
}

onBothLogs((bench) => {
  test('a page of 50 events is explained with one question about them, whatever they wait for', async () => {
    const store = bench.store()
    const asked: string[] = []
    const noting = <T extends object>(name: string, part: T): T =>
      new Proxy(part, {
        get(target, method) {
          const call = Reflect.get(target, method) as (...args: unknown[]) => unknown
          return (...args: unknown[]) => {
            asked.push(`${name}.${String(method)}`)
            return call(...args)
          }
        },
      })
    const counting: Store = {
      ...store,
      ...{ inspect: noting('inspect', store.inspect), pauses: noting('pauses', store.pauses) },
      history: noting('history', store.history),
    }
    const sources = { shop: shop({ order: 'reference' }) }
    const { inbox } = bench.inbox({ store: counting, sources, processing: false })
    await postAll(
      inbox,
      ids(60).map((id, i) => ({ id, ref: `r${i % 3}` })),
    )
    await inbox.pause('shop', 'order.gone')
    running = await startAdmin(inbox)
    asked.length = 0
    const response = await running.call('GET', '/api/events?limit=50', { role: 'viewer' })
    const { events } = (await response.json()) as { events: Event[] }
    // Every ten seconds the process writes its history, whoever asks what.
    const questions = asked.filter((name) => name !== 'history.add')
    expect(questions.sort()).toEqual(['history.processes', 'inspect.standings', 'pauses.list'])
    expect(events).toHaveLength(50)
    for (const { waiting } of events)
      expect(waiting).toMatchObject({ kind: 'behind', id: expect.stringMatching(/^e[012]$/) })
    const first = (await running.json('GET', '/api/events/shop/e0')) as unknown as Event
    expect(first.waiting).toEqual({ kind: 'no_worker' })
  })

  test('the oldest unfinished event counts since it was received, although another one holds it back', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ order: 'reference' }) } })
    inbox.on(
      'shop',
      '*',
      () => {
        throw new Error('not yet')
      },
      { retry: { firstDelay: '1h', maxDelay: '1h' } },
    )
    running = await startAdmin(inbox)
    const oldest = async () =>
      ((await running.json('GET', '/api/overview')) as { now: { oldest: Record<string, unknown> | null } })
        .now.oldest
    expect(await oldest()).toBeNull()
    await post(inbox, { id: 'a', ref: 'in_1' })
    await inbox.drain()
    await post(inbox, { id: 'b', ref: 'in_1' })
    const { receivedAt } = (await inbox.events.get({ source: 'shop', id: 'a' }))!
    expect(await oldest()).toMatchObject({
      ...{ source: 'shop', id: 'a', ageMs: expect.any(Number), waiting: { kind: 'retry' } },
      receivedAt: new Date(receivedAt).toISOString(),
    })
    await inbox.ignore({ source: 'shop', id: 'a' })
    await inbox.pause('shop', undefined, { actor: 'ada' })
    expect(await oldest()).toMatchObject({ id: 'b', waiting: { kind: 'paused', actor: 'ada' } })
  })
})
