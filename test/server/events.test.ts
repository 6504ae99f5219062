/** Finding events, ordering them one by one and many at once, and what the audit says about it. */

import { type Inbox, reply } from 'hookonce'
import { afterEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { ids, onLog, post, postAll, shop, stateOf, until } from '../support/processing.js'
import { acted, pathOf, type RunningAdmin, startAdmin } from './support.js'

interface Event {
  readonly id: string
  readonly source: string
  readonly state: string
}
interface Action {
  readonly id: string
  readonly state: string
  readonly matched: number
  readonly done: number
  readonly refused: Record<string, number>
}

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function started(...given: Parameters<typeof startAdmin>): Promise<RunningAdmin> {
  const running = await startAdmin(...given)
  cleanups.push(() => running.stop())
  return running
}

/** Every page of a list. */
async function all(running: RunningAdmin, query: string, limit: number): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  do {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = (await running.json('GET', `/api/events?${query}&limit=${limit}${more}`)) as unknown as {
      events: Event[]
      next: string | null
    }
    expect(page.events.length).toBeLessThanOrEqual(limit)
    found.push(...page.events.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== null)
  return found
}

onLog('SQLite', (bench) => {
  function made(): Inbox {
    return bench.inbox({ sources: { shop: shop(), other: shop() }, processing: false }).inbox
  }

  test('filters and pages as the store does, and finds a word as id, reference or type, each event once', async () => {
    const inbox = made()
    const running = await started(inbox)
    await postAll(inbox, [
      { id: 'o-1', type: 'order.paid', ref: 'x' },
      { id: 'y1', type: 'order.sent', ref: 'o-1' },
      { id: 'y2', type: 'o-1.strange', ref: 'o-1' },
      { id: 'y3', type: 'o-1', ref: 'z' },
      { id: 'z1', type: 'invoice.paid', ref: 'i-1' },
    ])
    await post(inbox, { id: 'o-1', type: 'order.paid', ref: 'q' }, 'other')
    for (const limit of [1, 2, 3, 50]) {
      const found = await all(running, 'q=o-1', limit)
      expect(found.slice(0, 2)).toEqual(['o-1', 'o-1'])
      expect(found.slice(2, 4).sort()).toEqual(['y1', 'y2'])
      expect(found.slice(4)).toEqual(['y3'])
      expect(await all(running, 'q=o-1&source=other', limit)).toEqual(['o-1'])
      expect((await all(running, 'q=order', limit)).sort()).toEqual(['o-1', 'o-1', 'y1'])
      expect((await all(running, 'q=*paid', limit)).sort()).toEqual(['o-1', 'o-1', 'z1'])
      expect(await all(running, 'q=nobody', limit)).toEqual([])
      expect((await all(running, 'type=order.*', limit)).sort()).toEqual(['o-1', 'o-1', 'y1'])
      expect(await all(running, 'id=o-1&source=shop', limit)).toEqual(['o-1'])
      expect(await all(running, 'reference=i-1&state=pending', limit)).toEqual(['z1'])
    }
    const now = Date.now()
    expect(await all(running, `from=${now + 60_000}`, 10)).toEqual([])
    expect(
      await all(running, `to=${encodeURIComponent(new Date(now + 60_000).toISOString())}&source=other`, 10),
    ).toEqual(['o-1'])
  })

  test('an id may contain anything the log takes: it is reached by its percent-encoded name', async () => {
    const inbox = made()
    const running = await started(inbox)
    const names = [
      'a/b',
      '/',
      '//',
      'a%2Fb',
      '100%',
      '%',
      '%zz',
      '?x=1&y',
      '#frag',
      'a b+c',
      ':id',
      '*',
      '\\',
      '\u{1f600}',
      'ü',
      '...',
      '.hidden',
      '~',
      '%00',
      ';',
      '@',
      'retry',
      'actions',
      'payload',
    ]
    await postAll(
      inbox,
      names.map((id) => ({ id })),
    )
    for (const id of names) {
      expect(await running.json('GET', pathOf('shop', id))).toMatchObject({ id, source: 'shop' })
      expect(await running.json('GET', `${pathOf('shop', id)}/attempts`)).toEqual({ attempts: [] })
      const order = await running.call('POST', `${pathOf('shop', id)}/ignore`, { body: {} })
      expect([id, order.status]).toEqual([id, 200])
      expect(await stateOf(inbox, id)).toBe('ignored')
    }
    // The two that a URL swallows are reached by a filter.
    await postAll(inbox, [{ id: '.' }, { id: '..' }])
    for (const id of ['.', '..']) {
      const body = { verb: 'ignore', filter: { source: 'shop', id } }
      expect(await acted(running, body)).toMatchObject({
        state: 'done',
        matched: 1,
        done: 1,
      })
      expect(await stateOf(inbox, id)).toBe('ignored')
    }
  })

  test('orders say what they did or why not, and are in the audit with who and why', async () => {
    const inbox = made()
    inbox.on('shop', '*', () => {})
    const running = await started(inbox)
    await post(inbox, { id: 'e1' })
    const order = (verb: string, body: object) =>
      running.call('POST', `${pathOf('shop', 'e1')}/${verb}`, { role: 'operator', body })
    expect(await (await order('ignore', { dryRun: true })).json()).toEqual({
      done: true,
      dryRun: true,
      from: 'pending',
      to: 'ignored',
    })
    expect(await stateOf(inbox, 'e1')).toBe('pending')
    expect(await (await order('ignore', { note: 'noise' })).json()).toMatchObject({
      done: true,
      to: 'ignored',
    })
    expect(await (await order('retry', { note: 'not noise' })).json()).toMatchObject({
      from: 'ignored',
    })
    await inbox.process('shop', 'e1')
    const refused = await order('replay', {})
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'FORCE_NEEDED' }])
    expect((await order('replay', { force: true, note: 'customer asked' })).status).toBe(200)
    await running.call('GET', `${pathOf('shop', 'e1')}/payload?note=ticket%207`)
    await running.call('HEAD', `${pathOf('shop', 'e1')}/payload?note=size`)
    const { audits } = (await running.json('GET', '/api/audits?source=shop&id=e1')) as unknown as {
      audits: { actor: string; verb: string; note: string; eventId: string }[]
    }
    expect(audits.map(({ actor, verb, note }) => [actor, verb, note])).toEqual([
      ['the-admin', 'payload', 'size'],
      ['the-admin', 'payload', 'ticket 7'],
      ['the-operator', 'replay', 'customer asked'],
      ['the-operator', 'retry', 'not noise'],
      ['the-operator', 'ignore', 'noise'],
    ])
    const mine = await running.json('GET', '/api/audits?actor=the-operator&verb=replay')
    expect(mine.audits).toMatchObject([{ source: 'shop', eventId: 'e1', note: 'customer asked' }])
  })

  test('the reply of an inline handler is a part of the payload as JSON, also when it is encrypted', async () => {
    const encryption = { keys: { k1: '0'.repeat(64) }, current: 'k1' }
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) }, encryption })
    const bytes = [0xff, 0, 0x3c]
    inbox.on('shop', 'asked', () =>
      reply(Uint8Array.from(bytes), { status: 404, headers: { 'X-One': 'ö', at: '7' } }),
    )
    inbox.on('shop', 'told', () => {})
    const running = await started(inbox)
    await post(inbox, { id: 'e1', type: 'asked' })
    await post(inbox, { id: 'e2', type: 'told' })
    const read = async (id: string) => {
      const headers = { accept: 'application/json' }
      return (await running.call('GET', `${pathOf('shop', id)}/payload`, { headers })).json()
    }
    expect(await read('e1')).toMatchObject({
      reply: {
        httpStatus: 404,
        headers: { 'content-type': 'application/octet-stream', 'x-one': 'ö', at: '7' },
        body: Buffer.from(bytes).toString('base64'),
      },
    })
    expect(await read('e2')).toMatchObject({ reply: null })
    const { audits } = await running.json('GET', '/api/audits?verb=payload&id=e1')
    expect(audits).toMatchObject([{ actor: 'the-admin', eventId: 'e1' }])
  })

  test('the other content of a conflict is run by a replay that asks for it, and only where there is one', async () => {
    const inbox = made()
    const amounts: unknown[] = []
    inbox.on('shop', '*', (event) => {
      amounts.push((event.payload as { amount?: number }).amount)
    })
    const running = await started(inbox)
    await postAll(inbox, [{ id: 'e1', amount: 1 }, { id: 'e2' }])
    await inbox.drain()
    await post(inbox, { id: 'e1', amount: 2 })
    const replay = (id: string, body: object) =>
      running.call('POST', `${pathOf('shop', id)}/replay`, { role: 'operator', body })
    const none = await replay('e2', { conflict: true, force: true })
    expect([none.status, await none.json()]).toMatchObject([404, { code: 'CONFLICT_NOT_FOUND' }])
    expect((await replay('e1', { conflict: true, force: true })).status).toBe(200)
    expect(await running.json('GET', '/api/events?hasConflict=true')).toMatchObject({ events: [] })
    await inbox.process('shop', 'e1')
    // The two have changed places: the first can be run again in the same way.
    expect((await replay('e1', { conflict: true, force: true })).status).toBe(200)
    await inbox.process('shop', 'e1')
    expect(amounts).toEqual([1, undefined, 2, 1])
  })

  test('an operator keeps the first content of a conflict; a viewer cannot, and there is one to decide about', async () => {
    const inbox = made()
    inbox.on('shop', '*', () => {})
    const running = await started(inbox)
    await postAll(inbox, [{ id: 'e1', amount: 1 }])
    await inbox.drain()
    await post(inbox, { id: 'e1', amount: 2 })
    const path = pathOf('shop', 'e1')
    const ignore = (role: 'viewer' | 'operator', body: object) =>
      running.call('POST', `${path}/ignore`, { role, body: { conflict: true, ...body } })
    expect((await ignore('viewer', {})).status).toBe(403)
    expect(await running.json('GET', path)).toMatchObject({ lastConflict: { decidedAt: null } })
    const kept = { done: true, from: 'succeeded', to: 'succeeded' }
    expect(await (await ignore('operator', { dryRun: true })).json()).toEqual({ ...kept, dryRun: true })
    expect(await (await ignore('operator', { note: 'the first is right' })).json()).toMatchObject(kept)
    const event = await running.json('GET', path)
    expect(event).toMatchObject({
      state: 'succeeded',
      conflicts: 1,
      lastConflict: { decidedAt: expect.any(String) },
    })
    const { audits } = await running.json('GET', '/api/audits?source=shop&id=e1')
    expect(audits).toMatchObject([
      { actor: 'the-operator', verb: 'ignore conflict', note: 'the first is right' },
    ])
    const again = await ignore('operator', {})
    expect([again.status, await again.json()]).toMatchObject([404, { code: 'CONFLICT_NOT_FOUND' }])
    const bulk = { verb: 'replay', conflict: true, filter: { source: 'shop' } }
    expect(await acted(running, bulk)).toMatchObject({
      state: 'failed',
      problem: 'INVALID_INPUT',
    })
  })

  test('a decision about a content that is no longer open is refused, and one that came later stays open', async () => {
    const inbox = made()
    inbox.on('shop', '*', () => {})
    const running = await started(inbox)
    await post(inbox, { id: 'e1', amount: 1 })
    await inbox.drain()
    await post(inbox, { id: 'e1', amount: 2 })
    const path = pathOf('shop', 'e1')
    const { hash: seen, body } = await running.json('GET', `${path}/conflict`)
    expect(Buffer.from(String(body), 'base64').toString()).toContain('"amount":2')
    expect(await running.json('GET', path)).toMatchObject({ lastConflict: { hash: seen } })
    await post(inbox, { id: 'e1', amount: 3 })
    const decide = (verb: 'replay' | 'ignore', conflict: unknown) =>
      running.call('POST', `${path}/${verb}`, { role: 'operator', body: { conflict, force: true } })
    expect((await decide('ignore', seen)).status).toBe(200)
    for (const verb of ['ignore', 'replay'] as const) {
      const again = await decide(verb, seen)
      expect([again.status, await again.json()]).toMatchObject([409, { code: 'CONFLICT_CHANGED' }])
    }
    expect((await decide('ignore', 'not a hash')).status).toBe(400)
    const event = await running.json('GET', path)
    expect(event).toMatchObject({ state: 'succeeded', run: 1, lastConflict: { decidedAt: null } })
    const other = await running.json('GET', `${path}/conflict`)
    expect(Buffer.from(String(other.body), 'base64').toString()).toContain('"amount":3')
    const bulk = { events: [{ source: 'shop', id: 'e1' }], verb: 'ignore', conflict: other.hash }
    expect((await running.call('POST', '/api/events/actions', { role: 'operator', body: bulk })).status).toBe(
      400,
    )
    expect((await decide('replay', other.hash)).status).toBe(200)
  })

  test('an event without its payload is not replayed: 410 alone, and counted in a bulk action', async () => {
    const inbox = made()
    inbox.on('shop', '*', () => {})
    const running = await started(inbox)
    await post(inbox, { id: 'e1' })
    await inbox.process('shop', 'e1')
    const store = await wholeInbox(inbox).store()
    await store.retention!.prune({ source: 'shop', payloadsBefore: Date.now() + 1_000, limit: 10 })
    for (const dryRun of [true, false]) {
      const one = { role: 'operator', body: { force: true, dryRun } } as const
      const answer = await running.call('POST', `${pathOf('shop', 'e1')}/replay`, one)
      expect([answer.status, await answer.json()]).toMatchObject([410, { code: 'PAYLOAD_REMOVED' }])
      const bulk = { verb: 'replay', filter: { source: 'shop' }, force: true, dryRun }
      expect(await acted(running, bulk)).toMatchObject({
        state: 'done',
        matched: 1,
        done: 0,
        refused: { PAYLOAD_REMOVED: 1 },
      })
    }
    expect(await stateOf(inbox, 'e1')).toBe('succeeded')
  })

  test('a bulk action counts first, then does', async () => {
    const inbox = made()
    const running = await started(inbox)
    await postAll(
      inbox,
      ids(30).map((id) => ({ id })),
    )
    await postAll(
      inbox,
      ids(5, 'o').map((id) => ({ id })),
      'other',
    )
    const body = { verb: 'ignore', filter: { source: 'shop', state: 'pending' }, note: 'a flood' }
    const dry = await acted(running, { ...body, dryRun: true })
    expect(dry).toMatchObject({ state: 'done', dryRun: true, matched: 30, done: 30, actor: 'the-admin' })
    expect((await inbox.events.stats()).find(({ source }) => source === 'shop')).toMatchObject({
      pending: 30,
    })
    expect(await acted(running, body)).toMatchObject({
      matched: 30,
      done: 30,
      refused: {},
    })
    expect(await inbox.events.stats()).toMatchObject([
      { source: 'other', pending: 5 },
      { source: 'shop', pending: 0, ignored: 30 },
    ])
    const { audits } = await (await wholeInbox(inbox).store()).audit!.list({ verb: 'ignore' }, { limit: 100 })
    expect(audits).toHaveLength(30)
    expect(audits.every(({ note, actor }) => note === 'a flood' && actor === 'the-admin')).toBe(true)
    const none = await acted(running, { verb: 'replay', filter: { state: 'succeeded' } })
    expect(none).toMatchObject({ state: 'done', matched: 0, done: 0 })
  })

  test.each([
    ['a filter', { filter: { source: 'shop' } }],
    ['a list of events', { events: ids(40).map((id) => ({ source: 'shop', id })) }],
  ])(
    'what is long runs on, shows how far it is, and stops when told; only so many at once: %s',
    async (_, chosen) => {
      const inbox = made()
      const running = await started(inbox)
      await postAll(
        inbox,
        ids(40).map((id) => ({ id })),
      )
      const begin = () =>
        running.call('POST', '/api/events/actions', {
          body: { verb: 'ignore', ...chosen, rate: 2 },
        })
      const response = await begin()
      const action = (await response.json()) as Action
      expect([response.status, response.headers.get('location'), action.state]).toEqual([
        202,
        `/api/actions/${action.id}`,
        'running',
      ])
      const look = async () => (await running.json('GET', `/api/actions/${action.id}`)) as unknown as Action
      await until(async () => (await look()).done > action.done, 'it goes on')
      const stopped = (await running.json('DELETE', `/api/actions/${action.id}`)) as unknown as Action
      expect(stopped.state).toBe('cancelled')
      expect(stopped.done).toBeLessThan(40)
      expect((await inbox.events.stats())[0]!.ignored).toBe(stopped.done)
      expect(await look()).toMatchObject({ state: 'cancelled', done: stopped.done })
      const statuses = (await Promise.all(Array.from({ length: 6 }, begin))).map(({ status }) => status)
      expect(statuses.filter((status) => status === 429).length).toBe(2)
    },
  )
})
