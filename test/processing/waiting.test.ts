/** Why an event waits: the judgement as a table of facts, and the facts as both logs have them. */
import { addDestinations } from 'hookonce/forward'
import { describe, expect, test } from 'vitest'
import { judge, type Waiting, type WaitingFacts, waitingKinds } from '#dist/processing/waiting.js'
import { startEndpoint, status } from '../support/endpoint.js'
import { onBothLogs, onLog, post, postAll, shop, signal, stateOf, until } from '../support/processing.js'

const now = 1_000_000
const event = {
  source: 'shop',
  type: 'order.paid',
  state: 'pending',
  reason: null,
  sameAs: null,
} as const
const standing = { seq: 1, now, dueAt: now, lease: null, isReleased: false, before: null }
const later = now + 60_000
const pause = { source: 'shop', type: null, actor: 'ada', note: '', at: now - 5_000 }
const process = {
  ...{ id: 'p', version: '1', node: '20', host: 'h', pid: 1, worker: 'w', startedAt: 0, seenAt: now },
  handles: [{ source: 'shop', pattern: 'order.*' }],
  places: { size: 2, taken: [], running: [] },
}
const hold = (pattern: string, count: number, limit: number | null = null) => ({
  source: 'shop',
  pattern,
  count,
  limit,
})
const takenBy = (...taken: ReturnType<typeof hold>[]) => ({
  ...process,
  places: { size: 2, taken, running: [7] },
})
const limit = { source: 'shop', pattern: 'order.*', key: '', slots: 1, nextStartAt: 0, pausedUntil: 0 }
const facts: WaitingFacts = { event, standing, pauses: [], processes: [process] }

const table: readonly [string, Partial<WaitingFacts>, Waiting | null][] = [
  ['it is finished', { standing: null, event: { ...event, state: 'succeeded' } }, null],
  [
    'it was ignored for another reason',
    { standing: null, event: { ...event, state: 'ignored', reason: 'unhandled' } },
    null,
  ],
  [
    'its content is known',
    { standing: null, event: { ...event, state: 'ignored', reason: 'replayed_content', sameAs: 'e0' } },
    { kind: 'review', sameAs: 'e0' },
  ],
  [
    'it is handled, in spite of a pause',
    { standing: { ...standing, lease: { worker: 'w', claimedAt: now - 9 } }, pauses: [pause] },
    { kind: 'running', worker: 'w', sinceAt: now - 9 },
  ],
  [
    'it was claimed, and all places of its worker are taken',
    {
      standing: { ...standing, lease: { worker: 'w', claimedAt: now - 9 } },
      processes: [takenBy(hold('order.*', 2))],
    },
    { kind: 'places', takenBy: [hold('order.*', 2)] },
  ],
  [
    'it runs, and all places of its worker are taken',
    {
      standing: { ...standing, seq: 7, lease: { worker: 'w', claimedAt: now - 9 } },
      processes: [takenBy(hold('order.*', 2))],
    },
    { kind: 'running', worker: 'w', sinceAt: now - 9 },
  ],
  [
    'it was claimed after its worker last said what it runs',
    {
      standing: { ...standing, lease: { worker: 'w', claimedAt: now } },
      processes: [takenBy(hold('order.*', 2))],
    },
    { kind: 'running', worker: 'w', sinceAt: now },
  ],
  [
    'its source is paused, whatever else holds it back',
    { pauses: [pause], processes: [], standing: { ...standing, before: { id: 'e0', dueAt: later } } },
    { kind: 'paused', source: 'shop', type: null, actor: 'ada', sinceAt: pause.at },
  ],
  [
    'its type is paused',
    { pauses: [{ ...pause, type: 'order.*' }] },
    { kind: 'paused', source: 'shop', type: 'order.*', actor: 'ada', sinceAt: pause.at },
  ],
  ['another type is paused', { pauses: [{ ...pause, type: 'invoice.*' }] }, { kind: 'due' }],
  ['a consumer of its source is paused', { pauses: [{ ...pause, source: 'shop/mail' }] }, { kind: 'due' }],
  [
    'the family of its type is paused',
    { pauses: [{ ...pause, type: 'order' }], separator: '.' },
    { kind: 'paused', source: 'shop', type: 'order', actor: 'ada', sinceAt: pause.at },
  ],
  [
    'an earlier event of its reference waits',
    { standing: { ...standing, dueAt: later, before: { id: 'e0', dueAt: later } } },
    { kind: 'behind', id: 'e0', dueAt: later },
  ],
  [
    'it failed',
    { event: { ...event, state: 'failed' }, standing: { ...standing, dueAt: later } },
    { kind: 'retry', dueAt: later },
  ],
  [
    'it was postponed, after failures',
    { event: { ...event, state: 'failed' }, standing: { ...standing, dueAt: later, isReleased: true } },
    { kind: 'postponed', dueAt: later },
  ],
  [
    'its destination fails',
    {
      standing: { ...standing, dueAt: later, isReleased: true },
      processes: [{ ...process, circuits: ['shop'] }],
    },
    { kind: 'circuit', dueAt: later },
  ],
  [
    'a destination failed in a process that is gone',
    {
      standing: { ...standing, dueAt: later, isReleased: true },
      processes: [process, { ...process, seenAt: now - 60_000, circuits: ['shop'] }],
    },
    { kind: 'postponed', dueAt: later },
  ],
  ['the log makes it due in a moment', { standing: { ...standing, dueAt: later } }, { kind: 'due' }],
  ['no process is there', { processes: [] }, { kind: 'no_worker' }],
  ['the process is dead', { processes: [{ ...process, seenAt: now - 60_000 }] }, { kind: 'no_worker' }],
  ['the process only receives', { processes: [{ ...process, handles: [] }] }, { kind: 'no_worker' }],
  [
    'its type has no handler',
    { processes: [{ ...process, handles: [{ source: 'shop', pattern: 'x' }] }] },
    { kind: 'no_handler' },
  ],
  [
    'its source has no handler',
    { processes: [{ ...process, handles: [{ source: 'shop/mail', pattern: '*' }] }] },
    { kind: 'no_handler' },
  ],
  ['a place is free', { processes: [takenBy(hold('order.*', 1))] }, { kind: 'due' }],
  [
    'all places are taken',
    { processes: [takenBy(hold('order.*', 1), hold('invoice.*', 1))] },
    { kind: 'places', takenBy: [hold('order.*', 1), hold('invoice.*', 1)] },
  ],
  [
    'the calls that its limit allows run, in any process',
    { limit, processes: [{ ...process, id: 'q' }, takenBy(hold('order.*', 1, 1))] },
    { kind: 'limit', pattern: 'order.*', dueAt: null },
  ],
  [
    'the next call that its limit allows is later',
    { limit: { ...limit, nextStartAt: later } },
    { kind: 'limit', pattern: 'order.*', dueAt: later },
  ],
  [
    'its limit is paused, and it was claimed',
    {
      limit: { ...limit, pausedUntil: later },
      standing: { ...standing, lease: { worker: 'w', claimedAt: now - 9 } },
    },
    { kind: 'limit', pattern: 'order.*', dueAt: later },
  ],
  [
    'its limit allows another call',
    { limit: { ...limit, slots: 1 }, processes: [takenBy(hold('order.*', 1, 2))] },
    { kind: 'due' },
  ],
  [
    'another process has a free place',
    { processes: [takenBy(hold('order.*', 2)), { ...process, id: 'q' }] },
    { kind: 'due' },
  ],
  [
    'the places of all processes are taken',
    {
      processes: [
        takenBy(hold('order.*', 2)),
        { ...takenBy(hold('invoice.*', 1), hold('order.*', 1)), id: 'q' },
      ],
    },
    { kind: 'places', takenBy: [hold('order.*', 3), hold('invoice.*', 1)] },
  ],
]

describe('an event waits:', () => {
  test.each(table)('%s', (_, given, waiting) => {
    expect(judge({ ...facts, ...given })).toEqual(waiting)
  })

  test('each kind of reason is in the table', () => {
    const kinds = new Set(table.flatMap(([, , waiting]) => waiting?.kind ?? []))
    expect([...kinds].sort()).toEqual([...waitingKinds].sort())
  })
})

onBothLogs((bench) => {
  const HOUR = '1h'

  async function waits(inbox: ReturnType<typeof bench.inbox>['inbox'], ...ids: string[]) {
    const found = await Promise.all(ids.map((id) => inbox.events.get({ source: 'shop', id })))
    return inbox.events.waiting(found.map((one) => one!))
  }

  test('behind a failing event of its reference, which is retried in an hour; and then for nothing', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ order: 'reference' }) } })
    let fails = true
    inbox.on(
      'shop',
      '*',
      () => {
        if (fails) throw new Error('not yet')
      },
      { retry: { firstDelay: HOUR, maxDelay: HOUR } },
    )
    await postAll(inbox, [{ id: 'a', ref: 'in_1' }])
    await postAll(inbox, [
      { id: 'b', ref: 'in_1' },
      { id: 'c', ref: 'in_2', type: 'order.late' },
    ])
    await inbox.drain()
    const { nextAttemptAt: dueAt } = (await inbox.events.get({ source: 'shop', id: 'a' }))!
    expect(await waits(inbox, 'a', 'b')).toEqual([
      { kind: 'retry', dueAt },
      { kind: 'behind', id: 'a', dueAt },
    ])
    fails = false
    await inbox.retry({ source: 'shop', id: 'a' })
    await inbox.drain()
    expect(await waits(inbox, 'a', 'b')).toEqual([null, null])
  })

  test('for its handler, which postponed it', async () => {
    const { postpone } = await import('hookonce')
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', () => {
      throw postpone(HOUR)
    })
    await post(inbox, { id: 'a' })
    await inbox.drain()
    expect(await waits(inbox, 'a')).toEqual([{ kind: 'postponed', dueAt: expect.any(Number) }])
  })

  test('for a worker, for a handler, and for a place of a busy process, which another process sees too', async () => {
    const { inbox: reader } = bench.inbox({ processing: false })
    await post(reader, { id: 'a', type: 'order.odd' })
    expect(await waits(reader, 'a')).toEqual([{ kind: 'no_worker' }])

    const { inbox } = bench.inbox({
      sources: { shop: shop(), other: shop() },
      processing: { lease: 30_000, poll: 20, concurrency: 1 },
    })
    const [begun, goOn] = [signal(), signal()]
    inbox.on('other', 'slow', async () => {
      begun.give()
      await goOn.wait
    })
    await inbox.start()
    expect(await waits(reader, 'a')).toEqual([{ kind: 'no_handler' }])

    await post(inbox, { id: 'slow', type: 'slow' }, 'other')
    await begun.wait
    inbox.on('shop', '*', () => {})
    await until(
      async () => (await stateOf(reader, 'a')) === 'processing',
      'it is claimed, and does not begin',
    )
    inbox.on('shop', 'another', () => {}) // and so its process tells the others about itself again
    const places = {
      kind: 'places',
      takenBy: [{ source: 'other', pattern: 'slow', count: 1, limit: null }],
    }
    await until(async () => {
      const [waiting] = await waits(reader, 'a')
      return waiting?.kind === 'places'
    }, 'the other process knows it')
    expect(await waits(reader, 'a')).toEqual([places])
    const slow = await reader.events.get({ source: 'other', id: 'slow' })
    expect(await reader.events.waiting([slow!])).toMatchObject([{ kind: 'running' }])
    goOn.give()
    await until(async () => (await stateOf(reader, 'a')) === 'succeeded', 'it is handled')
  })

  test('for an operator who has paused its type', async () => {
    const { inbox } = bench.inbox()
    inbox.on('shop', '*', () => {})
    await inbox.pause('shop', 'order.*', { actor: 'ada' })
    await post(inbox, { id: 'a' })
    const [pause] = await inbox.pauses()
    const sinceAt = pause!.at
    expect(await waits(inbox, 'a')).toEqual([
      { kind: 'paused', source: 'shop', type: 'order.*', actor: 'ada', sinceAt },
    ])
  })

  test('for the limit of its handler, which another process has used up', async () => {
    const [begun, goOn] = [signal(), signal()]
    for (let i = 0; i < 2; i++) {
      const { inbox } = bench.inbox({ processing: { lease: 30_000, poll: 20 } })
      inbox.on(
        'shop',
        'order.*',
        async () => {
          begun.give()
          await goOn.wait
        },
        { limit: { concurrency: 1 } },
      )
      await inbox.start()
    }
    const { inbox: reader } = bench.inbox({ processing: false })
    await postAll(reader, [
      { id: 'a', type: 'order.paid' },
      { id: 'b', type: 'order.paid' },
    ])
    await begun.wait
    await until(async () => {
      const states = await Promise.all(['a', 'b'].map((id) => waits(reader, id)))
      return states.flat().some((waiting) => waiting?.kind === 'limit')
    }, 'the other one waits for the limit')
    goOn.give()
    await until(async () => (await stateOf(reader, 'b')) === 'succeeded', 'it goes on')
  })
})

onLog('SQLite', (bench) => {
  test('an event waits for its destination, whose circuit is open', async () => {
    const endpoint = await startEndpoint()
    endpoint.answer = status(500)
    const { inbox } = bench.inbox({
      processing: { lease: 5_000, poll: 20, retry: { firstDelay: 1, maxDelay: 5 } },
    })
    const added = addDestinations(inbox, {
      crm: {
        ...{ url: endpoint.url, secret: `whsec_${'A'.repeat(32)}`, allowPrivate: ['127.0.0.0/8'] },
        ...{ pauseAfter: { failures: 2, lasting: 0 }, probeEvery: '1h' },
      },
    })
    await inbox.start()
    await post(inbox, { id: 'a' })
    await until(() => added.states()[0]!.paused, 'its circuit is open')
    await post(inbox, { id: 'b' })
    const { inbox: reader } = bench.inbox({ processing: false })
    await until(async () => {
      const found = await reader.events.get({ source: 'shop/crm', id: 'b' })
      const [waiting] = found ? await reader.events.waiting([found]) : []
      return waiting?.kind === 'circuit'
    }, 'another process says why')
    await endpoint.close()
  })
})
