/**
 * Spans for each delivery and each attempt, through `@opentelemetry/api` when the application has installed it. It is
 * loaded with `require`, so it stays optional for bundlers too; its state is global, so any copy of it will do.
 *
 * An attempt is linked to its delivery and is not its child: attempts may come hours later and many times, and the
 * conventions for messaging use links (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/).
 * The trace of a sender is linked and never continued: a sender must not decide what is sampled.
 */
import type { Attributes, Context, Link, ProxyTracerProvider, Span } from '@opentelemetry/api'
import { requireOptional } from './optional-module.js'

export interface Tracing {
  receive(source: string, headers: Readonly<Record<string, string>>): ReceiveSpan | null
  /** `inCall`: a caller waits for the attempt, so its span belongs to the trace of the caller; else it starts a trace. */
  attempt(events: readonly TracedEvent[], inCall: boolean): AttemptSpan | null
}

export interface TracedEvent {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly attempt: number
  readonly headers: Readonly<Record<string, string>>
}

export interface ReceiveSpan {
  /** These headers are stored with the event, for the links of its attempts. */
  readonly carried: Readonly<Record<string, string>>
  within<T>(work: () => Promise<T>): Promise<T>
  /** Measures the commit as a child span. */
  record<T>(work: () => Promise<T>): Promise<T>
  identified(events: readonly { readonly id: string; readonly type: string }[]): void
  /** Null: intake threw an error. */
  end(
    receipt: { readonly status: string; readonly reason: string | null; readonly httpStatus: number } | null,
  ): void
}

export interface AttemptSpan {
  within<T>(work: () => Promise<T>): Promise<T>
  /** How each event ended; null: the outcomes could not be written; empty: a batch was rolled back. */
  end(outcomes: readonly string[] | null): void
}

type Api = typeof import('@opentelemetry/api')

let loaded: Tracing | null | undefined

export function openTelemetry(): Tracing | null {
  if (loaded === undefined) {
    const api = load()
    loaded = api && tracingOn(api)
  }
  return loaded
}

function load(): Api | null {
  try {
    return requireOptional<Api>('@opentelemetry/api')
  } catch {
    return null
  }
}

function tracingOn(api: Api): Tracing {
  const { context, trace, SpanKind } = api
  const tracer = () => trace.getTracer('hookonce')
  return {
    receive: (source, headers) => harmless(api, () => receiving(source, headers)),
    attempt: (events, inCall) => harmless(api, () => attempting(events, inCall)),
  }

  function receiving(source: string, headers: Readonly<Record<string, string>>): ReceiveSpan | null {
    if (!isRecorded(api)) return null
    const parent = context.active()
    const inRequest = trace.getSpan(parent) !== undefined
    const span = tracer().startSpan(
      'hookonce receive',
      {
        kind: inRequest ? SpanKind.INTERNAL : SpanKind.SERVER,
        attributes: { 'hookonce.source': source },
        links: inRequest ? [] : linksTo(api, [headers]),
      },
      parent,
    )
    return isReal(api, span) ? receiveSpan(api, span, trace.setSpan(parent, span)) : null
  }

  function attempting(events: readonly TracedEvent[], inCall: boolean): AttemptSpan | null {
    if (!isRecorded(api)) return null
    const parent = inCall ? context.active() : api.ROOT_CONTEXT
    const span = tracer().startSpan(
      'hookonce attempt',
      {
        kind: SpanKind.CONSUMER,
        attributes: attemptAttributes(events),
        links: linksTo(
          api,
          events.map((event) => event.headers),
        ),
      },
      parent,
    )
    return isReal(api, span) ? attemptSpan(api, span, trace.setSpan(parent, span)) : null
  }
}

/** Code of the application runs when a span begins and ends. Its errors must not change an answer or a result. */
function harmless<T>({ diag }: Api, work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    diag.error('hookonce: a span is lost', error)
    return null
  }
}

/**
 * False without an SDK: the API then makes spans that are not recorded, and each costs several microseconds. The provider of
 * any copy of the API is a proxy, which has no tracer to give before the SDK is there.
 */
function isRecorded({ trace }: Api): boolean {
  const provider: Partial<ProxyTracerProvider> = trace.getTracerProvider()
  return provider.getDelegateTracer?.('hookonce') !== undefined || provider.getDelegateTracer === undefined
}

/** An SDK may decide not to sample, and some return spans that are not recorded. */
function isReal({ isSpanContextValid }: Api, span: Span): boolean {
  return isSpanContextValid(span.spanContext())
}

function receiveSpan(api: Api, span: Span, here: Context): ReceiveSpan {
  const { context, trace, SpanKind, SpanStatusCode } = api
  const { traceId, spanId, traceFlags, traceState } = span.spanContext()
  const state = traceState?.serialize()
  return {
    carried: {
      traceparent: `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`,
      ...(state ? { tracestate: state } : {}),
    },
    within: (work) => context.with(here, work),
    async record(work) {
      const record = harmless(api, () =>
        trace.getTracer('hookonce').startSpan('hookonce record', { kind: SpanKind.INTERNAL }, here),
      )
      if (record === null) return work()
      try {
        return await context.with(trace.setSpan(here, record), work)
      } catch (error) {
        record.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        harmless(api, () => record.end())
      }
    },
    identified([first, ...more]) {
      if (!first) return
      span.setAttributes({
        'hookonce.event.id': first.id,
        'hookonce.event.type': first.type,
        'hookonce.events': more.length + 1,
      })
    },
    end(receipt) {
      if (receipt)
        span.setAttributes({
          'hookonce.status': receipt.status,
          'http.response.status_code': receipt.httpStatus,
        })
      if (receipt?.reason) span.setAttribute('hookonce.reason', receipt.reason)
      if (!receipt || receipt.httpStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      harmless(api, () => span.end())
    },
  }
}

function attemptSpan(api: Api, span: Span, here: Context): AttemptSpan {
  const { context, SpanStatusCode } = api
  return {
    within: (work) => context.with(here, work),
    end(outcomes) {
      const different = [...new Set(outcomes?.length === 0 ? ['rolled_back'] : (outcomes ?? ['unwritten']))]
      span.setAttribute('hookonce.outcome', different.length === 1 ? different[0]! : 'mixed')
      // The message of an error may quote a payload, so the span only says that there was an error.
      if (different.some((outcome) => outcome === 'failed' || outcome === 'unwritten'))
        span.setStatus({ code: SpanStatusCode.ERROR })
      harmless(api, () => span.end())
    },
  }
}

function attemptAttributes(events: readonly TracedEvent[]): Attributes {
  const [first] = events
  if (!first) return {}
  return {
    'messaging.system': 'hookonce',
    'messaging.operation.name': 'attempt',
    'messaging.operation.type': 'process',
    'messaging.destination.name': first.source,
    'hookonce.source': first.source,
    ...(events.length > 1
      ? { 'messaging.batch.message_count': events.length }
      : {
          'messaging.message.id': first.id,
          'hookonce.event.id': first.id,
          'hookonce.event.type': first.type,
          'hookonce.attempt': first.attempt,
        }),
  }
}

/** Ignores a header that is not a trace context. */
function linksTo({ createTraceState }: Api, all: readonly Readonly<Record<string, string>>[]): Link[] {
  return all.flatMap(({ traceparent = '', tracestate }) => {
    const found = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent)
    if (!found || /^0+$/.test(found[1]!) || /^0+$/.test(found[2]!)) return []
    const [, traceId = '', spanId = '', flags = ''] = found
    const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }
    const traceFlags = Number.parseInt(flags, 16) & 1
    return [{ context: { traceId, spanId, traceFlags, isRemote: true, ...traceState } }]
  })
}
