/** `node:http`: `createServer(nodeHandler(inbox))`. Reads the bytes itself and cuts them at the limit while they stream. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type TimeLimits, timeLimits } from '../clock.js'
import { inboxOf } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import type { Receipt } from '../intake/answer.js'
import type { BodyReading } from '../intake/body-budget.js'
import { collectBytes } from '../intake/body-budget.js'
import type { IntakeLimits } from '../intake/receive.js'
import { sourceBelowMount } from '../intake/source-path.js'

export interface NodeHandlerOptions {
  /** The source of everything that comes to this handler; without it, the path names the source. */
  readonly source?: string
  /** Where the source is in the path. Default `/webhooks/:source`, from the start of the path or of the mount point. */
  readonly path?: string
  /**
   * How senders reach this server, for those that sign the URL: fixed, or told from the request. Without it, the Host
   * header is believed.
   */
  readonly origin?: string | ((request: IncomingMessage) => string)
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function nodeHandler(inbox: Inbox, options: NodeHandlerOptions = {}): NodeHandler {
  const take = nodeIntake(inbox, options)
  return (request, response) => take(request, response, options.source ?? sourceOf(request, options.path))
}

/** For routers that know the source. Null: there is none. */
export function nodeIntake(of: Inbox, options: NodeHandlerOptions) {
  const inbox = inboxOf(of, options)
  return async (request: IncomingMessage, response: ServerResponse, source: string | null): Promise<void> => {
    const path = originalUrl(request)
    if (source === null) return send(response, inbox.refused(null, 'unknown_source'), request)
    const reading = inbox.bodies.begin()
    try {
      const body = await bodyOf(request, inbox.limits, reading)
      if (body === 'parsed') return send(response, inbox.bodyConsumed(source, pathOf(path)), request)
      if (typeof body === 'string') return send(response, inbox.refused(source, body), request)
      const headers = flatten(request)
      const url = `${originOf(request, options.origin)}${path}`
      const method = request.method ?? 'POST'
      send(response, await inbox.receive(source, { method, url, headers, body }), request)
    } finally {
      reading.end()
    }
  }
}

/** Null when the path names no source. */
export function sourceOf(request: IncomingMessage, pattern?: string): string | null {
  return sourceBelowMount(pathOf(originalUrl(request)), pathOf(request.url ?? '/'), pattern)
}

/** Express and Connect rewrite `url` below a mount point and keep the requested URL here. */
function originalUrl(request: IncomingMessage & { originalUrl?: string }): string {
  return withoutOrigin(request.originalUrl ?? request.url ?? '/')
}

/** Proxies may send an absolute URL. */
function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
}

export function pathOf(url: string): string {
  const path = withoutOrigin(url)
  const query = path.indexOf('?')
  return query < 0 ? path : path.slice(0, query)
}

function originOf(request: IncomingMessage, configured: NodeHandlerOptions['origin']): string {
  if (configured !== undefined) return typeof configured === 'string' ? configured : configured(request)
  return `${isEncrypted(request) ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`
}

export function isEncrypted(request: IncomingMessage): boolean {
  return 'encrypted' in request.socket && request.socket.encrypted === true
}

/**
 * Node has joined headers that came twice, except those where only one makes sense, and `set-cookie`: a list, which
 * does not belong in a request.
 */
function flatten({ headers }: IncomingMessage): Record<string, string> {
  if (headers['set-cookie'] === undefined) return headers as Record<string, string>
  const flat: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flat
}

type Body = Uint8Array | 'body_too_large' | 'timeout' | 'aborted' | 'overloaded' | 'parsed'

export function bodyOf(
  request: IncomingMessage & { body?: unknown },
  limits: Pick<IntakeLimits, 'bodyBytes' | 'bodyTimeoutMs'>,
  budget: BodyReading,
): Promise<Body> | Body {
  if (request.body instanceof Uint8Array) {
    // express.raw() or a similar parser ran first: these are the bytes.
    return request.body.byteLength > limits.bodyBytes ? 'body_too_large' : request.body
  }
  if (wasRead(request)) return carriesBody(request) ? 'parsed' : new Uint8Array(0)
  if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) return 'body_too_large'
  return readBytes(request, limits, budget)
}

export function wasRead({ body, readableEnded }: IncomingMessage & { body?: unknown }): boolean {
  return readableEnded || (body !== undefined && body !== null)
}

export function carriesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

const readings = new Map<number, TimeLimits<() => void>>()

function bodiesInTime(ms: number): TimeLimits<() => void> {
  const known = readings.get(ms) ?? timeLimits<() => void>(ms, (expire) => expire())
  readings.set(ms, known)
  return known
}

function readBytes(
  request: IncomingMessage,
  limits: Pick<IntakeLimits, 'bodyBytes' | 'bodyTimeoutMs'>,
  budget: BodyReading,
): Promise<Body> {
  return new Promise((resolve) => {
    const pieces = collectBytes()
    let size = 0
    let ended = false
    const inTime = bodiesInTime(limits.bodyTimeoutMs)
    const onTimeout = () => finish('timeout')
    inTime.set(onTimeout)
    function finish(body: Body): void {
      if (ended) return
      ended = true
      inTime.clear(onTimeout)
      budget.complete()
      if (typeof body === 'string') request.off('data', onData)
      resolve(body)
    }
    function onData(chunk: Buffer): void {
      size += chunk.byteLength
      if (size > limits.bodyBytes) finish('body_too_large')
      else if (!budget.take(chunk.byteLength)) finish('overloaded')
      else pieces.add(chunk)
    }
    const onAbort = () => finish('aborted')
    budget.onEvicted(() => finish('overloaded'))
    // `once` would wrap each listener in two objects. Each of these events comes once, and `finish` works once.
    request.on('data', onData)
    request.on('end', () => finish(pieces.whole()))
    request.on('error', onAbort)
    request.on('close', onAbort)
  })
}

function send(
  response: ServerResponse,
  { httpStatus, headers, body, bytes }: Receipt,
  request: IncomingMessage,
): void {
  if (response.destroyed || request.socket.destroyed) return
  // The rest of an unread body would be taken for the next request on this connection.
  const unread = !request.readableEnded && !request.complete
  const content = bytes ?? body
  const length = Buffer.byteLength(content)
  if (unread) {
    response.writeHead(httpStatus, { ...headers, 'content-length': length, connection: 'close' })
    response.end(content, () => request.destroy())
    return
  }
  response.writeHead(httpStatus, { ...headers, 'content-length': length }).end(content)
}
