/**
 * `Tracing` on `@opentelemetry/api`, where the application has it. Found with `require`, so that it stays optional also
 * for bundlers; its state is global, so it does not matter which copy is found.
 *
 * An attempt is linked to its delivery, not a child of it: attempts may come hours later and many times, and the
 * conventions for messaging (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/) link there, too.
 * A sender's trace is linked as well, never continued: whoever may post must not decide what is sampled.
 */
import { createRequire } from 'node:module'
import type { Attributes, Context, Link, Span } from '@opentelemetry/api'
import type { AttemptSpan, ReceiveSpan, TracedEvent, Tracing } from './tracing.js'

type Api = typeof import('@opentelemetry/api')

let loaded: Tracing | null | undefined

/** Null when `@opentelemetry/api` is not installed. */
export function openTelemetry(): Tracing | null {
  if (loaded === undefined) {
    const api = load()
    loaded = api && tracingOn(api)
  }
  return loaded
}

function load(): Api | null {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api') as Api
  } catch {
    return null
  }
}

function tracingOn(api: Api): Tracing {
  const { context, trace, SpanKind } = api
  const tracer = () => trace.getTracer('hookonce')
  return {
    receive(source, headers) {
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
    },
    attempt(events, inCall) {
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
    },
  }
}

/** Without an SDK the API hands out spans that lead nowhere. */
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
      const record = trace
        .getTracer('hookonce')
        .startSpan('hookonce record', { kind: SpanKind.INTERNAL }, here)
      try {
        return await context.with(trace.setSpan(here, record), work)
      } catch (error) {
        record.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        record.end()
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
      span.end()
    },
  }
}

function attemptSpan({ context, SpanStatusCode }: Api, span: Span, here: Context): AttemptSpan {
  return {
    within: (work) => context.with(here, work),
    end(outcomes) {
      const different = [...new Set(outcomes ?? ['unwritten'])]
      span.setAttribute('hookonce.outcome', different.length === 1 ? different[0]! : 'mixed')
      // The text of an error is the application's and may quote a payload: only that there was one is said.
      if (different.some((one) => one === 'failed' || one === 'unwritten'))
        span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
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
          'messaging.message.id': first.eventId,
          'hookonce.event.id': first.eventId,
          'hookonce.event.type': first.eventType,
          'hookonce.attempt': first.attempt,
        }),
  }
}

/** To the spans these headers name; what is not a trace context names none. */
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
