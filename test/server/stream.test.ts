/** The stream: events as they enter the log, resumed where it broke off, and never a burden to the server. */

import type { Inbox, Store } from 'hookonce'
import { afterEach, describe, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { createStreams, type StreamTimes, streamTimes } from '#dist/server/admin/streams.js'
import { createWakes } from '#dist/server/admin/wakes.js'
import { ids, onLog, post, postAll, shop, until } from '../support/processing.js'
import { type RunningAdmin, startAdmin } from './support.js'

interface Frame {
  readonly event: string
  readonly id: string | null
  readonly data: Record<string, unknown> | null
}

interface Listening {
  readonly frames: Frame[]
  /** The id a browser would send when it comes back. */
  lastId(): string
  recorded(): string[]
  ended: Promise<string>
  stop(): void
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

function frameOf(text: string): Frame {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? null
  const data = field('data')
  return {
    event: field('event') ?? (text.startsWith(':') ? 'comment' : 'none'),
    id: field('id'),
    data: data === null ? null : (JSON.parse(data) as Record<string, unknown>),
  }
}

function listen(body: ReadableStream<Uint8Array>): Listening {
  const frames: Frame[] = []
  const reader = body.getReader()
  const ended = (async () => {
    let text = ''
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return 'ended'
        text += Buffer.from(value).toString()
        const parts = text.split('\n\n')
        text = parts.pop()!
        frames.push(...parts.map(frameOf))
      }
    } catch {
      return 'cut'
    }
  })()
  return {
    frames,
    ended,
    lastId: () => frames.findLast(({ id }) => id !== null)!.id!,
    recorded: () => frames.filter(({ event }) => event === 'recorded').map(({ data }) => String(data!.id)),
    stop: () => void reader.cancel().catch(() => {}),
  }
}

async function open(running: RunningAdmin, path: string, lastId?: string): Promise<Listening> {
  const stop = new AbortController()
  const response = await running.call('GET', path, {
    signal: stop.signal,
    headers: lastId === undefined ? {} : { 'last-event-id': lastId },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const listening = listen(response.body!)
  cleanups.push(() => stop.abort())
  return { ...listening, stop: () => stop.abort() }
}

onLog('SQLite', (bench) => {
  test('gives what is there, then what comes, in order and once each; and goes on after a break', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const other = bench.inbox({ processing: false }).inbox
    const running = await started(inbox)
    await postAll(inbox, [{ id: 'a' }, { id: 'b' }])
    const first = await open(running, '/api/stream?after=0')
    await until(() => first.recorded().length === 2, 'what was there')
    await post(inbox, { id: 'c' })
    await until(() => first.recorded().length === 3, 'what this process recorded')
    await post(other, { id: 'd' })
    await until(() => first.recorded().length === 4, 'what another process recorded')
    expect(first.recorded().slice(2)).toEqual(['c', 'd'])
    expect(first.frames.find(({ event }) => event === 'recorded')!.data).toMatchObject({
      source: 'shop',
      state: 'pending',
    })
    const lastId = first.lastId()
    first.stop()
    await first.ended
    await postAll(inbox, [{ id: 'e' }])
    const second = await open(running, '/api/stream?after=0', lastId)
    await until(() => second.recorded().length === 1, 'what came meanwhile')
    expect(second.recorded()).toEqual(['e'])
    expect(second.frames.some(({ event }) => event === 'gap')).toBe(false)
  })

  test('reads on page by page, however much there is', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await postAll(
      inbox,
      ids(250).map((id) => ({ id })),
    )
    const stream = await open(running, '/api/stream?after=0')
    await until(() => stream.recorded().length >= 250, 'all of them')
    expect(stream.recorded().sort()).toEqual(ids(250).sort())
    const seqs = stream.frames
      .filter(({ event }) => event === 'recorded')
      .map(({ data }) => Number(data!.seq))
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    const fresh = await open(running, '/api/stream')
    await until(() => fresh.recorded().length > 0, 'the latest')
    expect(fresh.recorded().length).toBeLessThanOrEqual(100)
    expect(fresh.frames.some(({ event }) => event === 'gap')).toBe(false)
  })

  test('only the source that was asked for; the position moves on all the same', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop(), other: shop() }, processing: false })
    const running = await started(inbox)
    const stream = await open(running, '/api/stream?after=0&source=shop')
    await post(inbox, { id: 'x' }, 'other')
    await post(inbox, { id: 'y' }, 'shop')
    await post(inbox, { id: 'z' }, 'other')
    await until(() => stream.recorded().length === 1, 'ours')
    expect(stream.recorded()).toEqual(['y'])
  })

  test('says so when events were removed before they could be read', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'a' })
    const before = await open(running, '/api/stream?after=0')
    await until(() => before.recorded().length === 1, 'the first')
    const lastId = before.lastId()
    before.stop()
    await post(inbox, { id: 'b' })
    const store = await wholeInbox(inbox).store()
    await inbox.ignore({ source: 'shop', id: 'b' })
    const pruned = await store.retention!.prune({
      source: 'shop',
      eventsBefore: Date.now() + 60_000,
      limit: 10,
    })
    expect(pruned.events).toBe(1)
    await post(inbox, { id: 'c' })
    const after = await open(running, '/api/stream', lastId)
    await until(() => after.recorded().length === 1, 'what is left')
    expect(
      after.frames.map(({ event }) => event).filter((event) => event === 'gap' || event === 'recorded'),
    ).toEqual(['gap', 'recorded'])
    expect(after.frames.find(({ event }) => event === 'gap')!.data).toMatchObject({ after: Number(lastId) })
  })

  test('tells the counts, and again when they have changed', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    await post(inbox, { id: 'a' })
    const stream = await open(running, '/api/stream')
    const counts = () =>
      stream.frames
        .filter(({ event }) => event === 'stats')
        .map(({ data }) => (data as { sources: { recorded: number }[] }).sources[0]?.recorded)
    await until(() => counts().length === 1, 'the counts')
    await post(inbox, { id: 'b' })
    await until(() => counts().length === 2, 'the new counts')
    expect(counts()).toEqual([1, 2])
  })
})

onLog('SQLite', (bench) => {
  function streamsOf(inbox: Inbox, most: number, times: Partial<StreamTimes>) {
    const wakes = createWakes(wholeInbox(inbox))
    const streams = createStreams(wholeInbox(inbox), wakes, most, { ...streamTimes, ...times })
    cleanups.push(async () => {
      streams.close()
      await wakes.close()
    })
    return streams
  }
  const options = { after: 0, detail: true, expiresAt: Number.POSITIVE_INFINITY }

  describe('a reader', () => {
    test('who takes nothing is read nothing for, is cut, and comes back to where they were', async () => {
      const store = bench.store()
      let tails = 0
      const counted = new Proxy(store, {
        get(target, name) {
          if (name === 'tail') tails++
          const value = Reflect.get(target, name) as unknown
          return typeof value === 'function' ? value.bind(target) : value
        },
      }) as Store
      const { inbox } = bench.inbox({ store: counted, processing: false })
      await postAll(
        inbox,
        ids(300).map((id) => ({ id })),
      )
      const streams = streamsOf(inbox, 2, { stallMs: 200 })
      const body = streams.open(options)
      const reader = body.getReader()
      await reader.read() // the greeting
      const { value } = await reader.read() // the first page
      const page = Buffer.from(value!).toString()
      await expect(reader.closed).rejects.toThrow('cut')
      expect([tails, streams.size]).toEqual([1, 0])
      const lastId = Number(/^id: (\d+)$/m.exec(page)![1])
      const again = listen(streams.open({ ...options, after: lastId }))
      await until(() => again.recorded().length === 200, 'the rest')
      again.stop()
      const seen = [...page.matchAll(/"id":"(e\d+)"/g)].map(([, id]) => id!)
      expect([...seen, ...again.recorded()].sort()).toEqual(ids(300).sort())
    })

    test('who never reads at all is cut too', async () => {
      const { inbox } = bench.inbox({ processing: false })
      const streams = streamsOf(inbox, 1, { stallMs: 50 })
      streams.open(options)
      expect(() => streams.open(options)).toThrow('1 streams are open')
      await until(() => streams.size === 0, 'its place is free')
    })

    test('hears from us when nothing happens, with the position', async () => {
      const { inbox } = bench.inbox({ processing: false })
      await post(inbox, { id: 'a' })
      const streams = streamsOf(inbox, 1, { heartbeatMs: 20 })
      const stream = listen(streams.open(options))
      await until(
        () => stream.frames.some(({ event, id }) => event === 'comment' && id !== null),
        'a heartbeat',
      )
      stream.stop()
    })

    test('whose access ends is sent away', async () => {
      const { inbox } = bench.inbox({ processing: false })
      const streams = streamsOf(inbox, 1, { heartbeatMs: 50 })
      const stream = listen(streams.open({ ...options, expiresAt: Date.now() + 200 }))
      expect(await stream.ended).toBe('ended')
      expect(streams.size).toBe(0)
    })
  })

  test('there are only so many, and closing one makes room', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    const [first] = await Promise.all(Array.from({ length: 32 }, () => open(running, '/api/stream')))
    const refused = await running.call('GET', '/api/stream')
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'STREAMS_FULL' }])
    expect((await running.call('HEAD', '/api/stream')).status).toBe(200)
    first!.stop()
    await until(async () => {
      const stop = new AbortController()
      const response = await running.call('GET', '/api/stream', { signal: stop.signal })
      stop.abort()
      return response.status === 200
    }, 'room for the next')
  })

  test('closing the admin API ends the streams and those who wait for work', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await startAdmin(inbox)
    const stream = await open(running, '/api/stream')
    const waiting = running.call('POST', '/api/work/claim', { body: { worker: 'w', waitMs: 30_000 } })
    await until(() => stream.frames.length > 0, 'open')
    await running.handler.close()
    expect(await stream.ended).toBe('cut')
    expect(await (await waiting).json()).toEqual({ events: [] })
    await running.stop()
  })

  test('a stream that is opened after the close ends, and does not go round in circles', async () => {
    const { inbox } = bench.inbox({ processing: false })
    await post(inbox, { id: 'a' })
    const running = await started(inbox)
    await running.handler.close()
    const stream = await open(running, '/api/stream')
    expect(await stream.ended).toBe('ended')
    expect(stream.recorded()).toEqual(['a'])
  })

  test('a position that is none is refused', async () => {
    const { inbox } = bench.inbox({ processing: false })
    const running = await started(inbox)
    for (const bad of ['-1', 'x', '1e9', '99999999999999999']) {
      const response = await running.call('GET', '/api/stream', { headers: { 'last-event-id': bad } })
      expect([bad, response.status]).toEqual([bad, 400])
    }
  })
})
