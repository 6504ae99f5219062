/**
 * Converts requests of `node:http` for a web-standard handler, and its responses back. The libraries for this print to
 * the console when a stream is cut, which is normal here, and some replace the global Request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyOf, carriesBody, isEncrypted, pathOf, wasRead } from '../adapters/node.js'
import { HookonceError } from '../errors.js'
import type { BodyBudget } from '../intake/body-budget.js'

export type BridgedFetch = (request: Request, incoming: IncomingMessage) => Promise<Response>

type Incoming = IncomingMessage & { originalUrl?: string; body?: unknown }

export interface BridgeOptions {
  /** The largest body. It is read only when the handler asks for it, after authentication. */
  readonly bodyBytes: (method: string, path: string) => number
  readonly bodies: BodyBudget
  readonly bodyTimeoutMs?: number
}

export function bridge(
  fetch: BridgedFetch,
  { bodyBytes, bodies, bodyTimeoutMs = 15_000 }: BridgeOptions,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming: Incoming, outgoing) => {
    const maxBytes = bodyBytes(incoming.method ?? 'GET', pathOf(incoming.originalUrl ?? incoming.url ?? '/'))
    const reading = bodies.begin()
    let refused: keyof typeof refusals | 'aborted' | null = null
    async function read(): Promise<Uint8Array> {
      const body = await bodyOf(incoming, { bodyBytes: maxBytes, bodyTimeoutMs }, reading)
      if (typeof body !== 'string') return body
      refused = body === 'parsed' ? null : body
      throw new Error('the body was refused')
    }
    try {
      const gone = new AbortController()
      outgoing.once('close', () => gone.abort())
      const body = !hasBody(incoming) ? null : wasRead(incoming) ? parsedBytes(incoming) : lazyBody(read)
      const request = requestOf(incoming, body, gone.signal)
      if (request === null) return refuse(outgoing, 400)
      const response = await fetch(request, incoming).catch((error) => {
        if (refused === null) throw error
      })
      reading.end() // a stream may last for hours and does not need the body
      if (refused === null) return await send(incoming, outgoing, response!)
      response?.body?.cancel().catch(() => {})
      if (refused !== 'aborted') refuse(outgoing, refusals[refused])
    } finally {
      reading.end()
    }
  }
}

const refusals = { timeout: 408, body_too_large: 413, overloaded: 503 } as const

/** With more unread bytes than this, the connection is closed. */
const UNREAD_BYTES = 64 * 1024

function hasBody(incoming: IncomingMessage): boolean {
  return incoming.method !== 'GET' && incoming.method !== 'HEAD' && carriesBody(incoming)
}

/** Reads the body when the handler asks for its first bytes. */
function lazyBody(read: () => Promise<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const bytes = await read()
        if (bytes.byteLength > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * The bytes of a body that a parser of the application has read. If the parser kept no value, this is an error: an
 * empty body has another meaning, such as an action without its `dryRun`.
 */
function parsedBytes({ body, url = '/' }: Incoming): Uint8Array {
  if (body === undefined || body === null) throw new HookonceError('BODY_CONSUMED', { path: pathOf(url) })
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return Buffer.from(body)
  return Buffer.from(JSON.stringify(body))
}

function requestOf(
  incoming: Incoming,
  body: Uint8Array | ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): Request | null {
  const { method = 'GET' } = incoming
  const url = incoming.originalUrl ?? incoming.url ?? '/'
  // A placeholder: the host is checked in the Host header.
  const base = `${isEncrypted(incoming) ? 'https' : 'http'}://host.invalid`
  const headers = new Headers()
  try {
    for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
      headers.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!)
    }
    const content = body instanceof Uint8Array ? Buffer.from(body) : body
    const init = { method, headers, signal, body: content, duplex: 'half' }
    return new Request(url.startsWith('/') ? `${base}${url}` : url, init as RequestInit)
  } catch {
    return null // a method, a path or a header that `Request` does not accept
  }
}

async function send(incoming: IncomingMessage, outgoing: ServerResponse, response: Response): Promise<void> {
  if (outgoing.destroyed) return void response.body?.cancel()
  if (isLeftUnread(incoming)) {
    outgoing.shouldKeepAlive = false
    outgoing.once('finish', () => incoming.destroy())
  }
  const headOnly = incoming.method === 'HEAD'
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  outgoing.writeHead(response.status, headers)
  if (response.body === null || headOnly) {
    response.body?.cancel().catch(() => {})
    outgoing.end()
    return
  }
  await writeAll(response.body, outgoing)
}

/** Node would read the rest of the body, however large, to use the connection again. */
function isLeftUnread(incoming: IncomingMessage): boolean {
  if (incoming.complete || !hasBody(incoming)) return false
  const length = incoming.headers['content-length']
  return length === undefined || Number(length) > UNREAD_BYTES
}

/** Reads the next chunk when the socket has accepted the last one: a slow client slows down the source. */
async function writeAll(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  outgoing.once('close', () => void reader.cancel().catch(() => {}))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!outgoing.write(value)) await Promise.race([drained(outgoing), reader.closed])
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}

/** The rest of the body stays unread, so the connection cannot be used again. */
function refuse(outgoing: ServerResponse, status: number): void {
  const retry = status === 503 ? { 'retry-after': '5' } : {}
  outgoing.writeHead(status, { ...retry, connection: 'close', 'content-length': 0 })
  outgoing.end(() => outgoing.destroy())
}
