/** Spans over receive, record and attempt, tied together through the log. */
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import type { Inbox } from 'hookonce'
import { addDestinations } from 'hookonce/forward'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startEndpoint } from '../support/endpoint.js'
import { onLog, post, quickRetry, shop, until } from '../support/processing.js'

const exporter = new InMemorySpanExporter()
/** A processor of the application that is broken. */
const broken = { start: false, end: false }
const processor: SpanProcessor = {
  onStart() {
    if (broken.start) throw new Error('onStart is broken')
  },
  onEnd() {
    if (broken.end) throw new Error('onEnd is broken')
  },
  forceFlush: async () => {},
  shutdown: async () => {},
}
beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), processor] }),
  )
})
afterEach(() => {
  exporter.reset()
  Object.assign(broken, { start: false, end: false })
})
afterAll(() => {
  trace.disable()
  context.disable()
})

const named = (name: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name)
const canary = 'payload-canary-7f3a'
const sent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function deliver(inbox: Inbox, id: string, headers: Record<string, string> = {}) {
  const body = Buffer.from(JSON.stringify({ id, type: 'order.paid', canary }))
  return inbox.receive('shop', {
    method: 'POST',
    url: `http://localhost/webhooks/shop?${canary}`,
    headers,
    body,
  })
}

onLog('SQLite', (bench) => {
  test('an attempt links to the delivery it came from, and each says what became of it', async () => {
    const { inbox } = bench.inbox({ processing: { lease: 5_000, poll: 20, retry: quickRetry } })
    let calls = 0
    inbox.on('shop', '*', async () => {
      const span = trace.getTracer('app').startSpan('work of the application')
      span.end()
      if (++calls === 1) throw new Error(`could not read ${canary}`)
    })
    // Whatever was under way when the workers started is not what their attempts belong to.
    const boot = trace.getTracer('app').startSpan('the application starts')
    await context.with(trace.setSpan(context.active(), boot), () => inbox.start())
    await deliver(inbox, 'e1', { traceparent: sent, tracestate: 'vendor=x' })
    await deliver(inbox, 'e1')
    await until(() => named('hookonce attempt').length === 2, 'there were two attempts')

    const [receive, again] = named('hookonce receive')
    expect(receive!.kind).toBe(SpanKind.SERVER)
    expect(receive!.attributes).toEqual({
      'hookonce.source': 'shop',
      'hookonce.event.id': 'e1',
      'hookonce.event.type': 'order.paid',
      'hookonce.events': 1,
      'hookonce.status': 'accepted',
      'http.response.status_code': 200,
    })
    // The sender's trace is pointed at, not continued.
    expect(receive!.parentSpanContext).toBeUndefined()
    expect(receive!.links.map((link) => link.context.traceId)).toEqual([sent.split('-')[1]])
    expect(receive!.links[0]!.context.traceState?.get('vendor')).toBe('x')
    expect(again!.attributes['hookonce.status']).toMatch(/^already_/)
    const [record] = named('hookonce record')
    expect(record!.parentSpanContext!.spanId).toBe(receive!.spanContext().spanId)

    const attempts = named('hookonce attempt')
    expect(attempts.map((span) => span.attributes['hookonce.outcome'])).toEqual(['failed', 'succeeded'])
    expect(attempts.map((span) => span.attributes['hookonce.attempt'])).toEqual([1, 2])
    expect(attempts.map((span) => span.status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
    for (const span of attempts) {
      expect(span.kind).toBe(SpanKind.CONSUMER)
      expect(span.parentSpanContext).toBeUndefined()
      expect(span.links.map((link) => link.context.spanId)).toEqual([receive!.spanContext().spanId])
      expect(span.links[0]!.context.traceId).toBe(receive!.spanContext().traceId)
    }
    const ofApp = named('work of the application')
    expect(ofApp.map((span) => span.parentSpanContext?.spanId)).toEqual(
      attempts.map((span) => span.spanContext().spanId),
    )
    const all = exporter.getFinishedSpans().map(({ name, attributes, events, status, links }) => ({
      name,
      attributes,
      events,
      status,
      links: links.length,
    }))
    expect(JSON.stringify(all)).not.toContain(canary)
  })

  test('a batch is one span with a link for each of its events', async () => {
    const { inbox } = bench.inbox()
    inbox.onBatch('shop', '*', async () => {})
    await Promise.all(['a', 'b', 'c'].map((id) => deliver(inbox, id)))
    await inbox.drain()
    const [span] = named('hookonce attempt')
    expect(span!.links).toHaveLength(3)
    expect(span!.attributes).toMatchObject({
      'messaging.batch.message_count': 3,
      'hookonce.outcome': 'succeeded',
    })
  })
})

onLog('SQLite', (bench) => {
  test('inside a request, receive belongs to the span of that request, and so does an inline attempt', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) } })
    inbox.on('shop', '*', async () => {})
    const request = trace.getTracer('app').startSpan('POST /webhooks/shop')
    await context.with(trace.setSpan(context.active(), request), () =>
      deliver(inbox, 'e1', { traceparent: sent }),
    )
    const [receive] = named('hookonce receive')
    const [attempt] = named('hookonce attempt')
    expect(receive!.parentSpanContext!.spanId).toBe(request.spanContext().spanId)
    expect(receive!.kind).toBe(SpanKind.INTERNAL)
    expect(attempt!.parentSpanContext!.spanId).toBe(receive!.spanContext().spanId)
  })

  test('a rejected delivery says why; a source that does not exist has no name', async () => {
    const { inbox } = bench.inbox()
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/',
      headers: { traceparent: 'nonsense' },
      body: Buffer.from('{}'),
    })
    await inbox.receive('unknown-canary', {
      method: 'POST',
      url: 'http://localhost/',
      headers: {},
      body: Buffer.from(''),
    })
    expect(
      named('hookonce receive').map(({ attributes }) => [
        attributes['hookonce.source'],
        attributes['hookonce.reason'],
      ]),
    ).toEqual([
      ['shop', 'no_event_id'],
      ['(unknown)', 'unknown_source'],
    ])
  })

  test.each(['start', 'end'] as const)(
    'a span that cannot %s changes no answer and no result',
    async (step) => {
      const handled: string[] = []
      const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }), later: shop() } })
      inbox.on('shop', '*', (event) => void handled.push(event.id))
      inbox.on('later', '*', (event) => void handled.push(event.id))
      broken[step] = true
      expect(await deliver(inbox, 'e1')).toMatchObject({ httpStatus: 200 })
      await post(inbox, { id: 'e2' }, 'later')
      await inbox.drain()
      expect(handled).toEqual(['e1', 'e2'])
      for (const key of [
        { source: 'shop', id: 'e1' },
        { source: 'later', id: 'e2' },
      ])
        expect(await inbox.events.get(key)).toMatchObject({ state: 'succeeded', attempts: 1 })
    },
  )

  test('with tracing: false there are none', async () => {
    const { inbox } = bench.inbox({ tracing: false })
    inbox.on('shop', '*', async () => {})
    await post(inbox, { id: 'e1' })
    await inbox.drain()
    expect(exporter.getFinishedSpans()).toEqual([])
  })

  test('what is forwarded carries no trace of the sender', async () => {
    const endpoint = await startEndpoint()
    const { inbox } = bench.inbox()
    addDestinations(inbox, {
      x: {
        url: endpoint.url,
        secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
        allowPrivate: ['127.0.0.1'],
      },
    })
    await deliver(inbox, 'e1', { traceparent: sent })
    await inbox.drain()
    await endpoint.close()
    expect(JSON.stringify(endpoint.arrivals[0]!.headers)).not.toContain(sent.split('-')[1])
  })
})

test('without an SDK nothing is recorded and the sender`s header is kept as it came', async () => {
  trace.disable()
  const { createInbox, silentLog } = await import('hookonce')
  const inbox = createInbox({ store: 'sqlite::memory:', sources: { shop: shop() }, log: silentLog })
  await deliver(inbox, 'e1', { traceparent: sent })
  expect((await inbox.events.payload({ source: 'shop', id: 'e1' }))!.headers.traceparent).toBe(sent)
  await inbox.stop()
})
