/** Intake for web-standard requests and responses. */
import type { Receipt } from './answer.js'
import { type BodyBudget, type BodyReading, collectBytes } from './body-budget.js'
import type { EarlyRefusal, IntakeLimits } from './receive.js'
import { sourceInPath } from './source-path.js'

export interface FetchTarget {
  receive(
    source: string,
    delivery: { method: string; url: string; headers: Record<string, string>; body: Uint8Array },
  ): Promise<Receipt>
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  bodyConsumed(source: string, path: string): Receipt
  readonly limits: IntakeLimits
  readonly bodies: BodyBudget
}

/** The path names the source if `source` is not given. */
export async function fetchIntake(
  inbox: FetchTarget,
  request: Request,
  { source, path }: { readonly source?: string | undefined; readonly path?: string | undefined } = {},
): Promise<Response> {
  const { pathname } = new URL(request.url)
  const name = source ?? sourceInPath(pathname, path)
  if (name === null) return asResponse(inbox.refused(null, 'unknown_source'))
  if (request.bodyUsed || request.body?.locked) return asResponse(inbox.bodyConsumed(name, pathname))
  const reading = inbox.bodies.begin()
  try {
    const body = await readBody(request, inbox.limits, reading)
    if (typeof body === 'string') return asResponse(inbox.refused(name, body))
    const headers = Object.fromEntries(request.headers)
    return asResponse(await inbox.receive(name, { method: request.method, url: request.url, headers, body }))
  } finally {
    reading.end()
  }
}

async function readBody(
  request: Request,
  limits: IntakeLimits,
  budget: BodyReading,
): Promise<Uint8Array | 'body_too_large' | 'timeout' | 'aborted' | 'overloaded'> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.bodyBytes) return 'body_too_large'
  if (!request.body) return new Uint8Array(0)
  const reader = request.body.getReader()
  const late = timeout(limits.bodyTimeoutMs)
  const evicted = new Promise<'overloaded'>((resolve) => budget.onEvicted(() => resolve('overloaded')))
  const pieces = collectBytes()
  let size = 0
  try {
    for (;;) {
      const next = await Promise.race([reader.read().catch(() => 'aborted' as const), late.promise, evicted])
      if (next === 'aborted') return next
      if (next === 'timeout' || next === 'overloaded') return cancel(reader, next)
      if (next.done) return pieces.whole()
      size += next.value.byteLength
      if (size > limits.bodyBytes) return cancel(reader, 'body_too_large')
      if (!budget.take(next.value.byteLength)) return cancel(reader, 'overloaded')
      pieces.add(next.value)
    }
  } finally {
    budget.complete()
    late.clear()
  }
}

function cancel<Reason extends string>(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  reason: Reason,
): Reason {
  reader.cancel().catch(() => {}) // nobody reads the stream any more
  return reason
}

function timeout(ms: number) {
  let timer: NodeJS.Timeout | undefined
  const promise = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), ms)
  })
  return { promise, clear: () => clearTimeout(timer) }
}

/** `new Response` throws when it gets a body with one of them. */
const WITHOUT_BODY = new Set([204, 205, 304])

function asResponse({ httpStatus, headers, body, bytes }: Receipt): Response {
  const content = bytes ? new Uint8Array(bytes) : body
  return new Response(WITHOUT_BODY.has(httpStatus) ? null : content, { status: httpStatus, headers })
}
