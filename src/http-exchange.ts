/**
 * One HTTP request and its answer, as a sender of webhooks makes it: exact bytes, no redirect followed, every wait
 * limited.
 */
import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Delivery } from './provider.js'

export interface HttpAnswer {
  readonly httpStatus: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface ExchangeLimits {
  /** Ends the exchange. Its reason is the error, unless a status has arrived. */
  readonly signal: AbortSignal
  /** Default 64 KiB. */
  readonly keepBytes?: number
  /** Closes the connection this long after the status, or after `keepBytes` of body. Default: reads the whole body. */
  readonly closeAfterMs?: number
}

/** The caller writes the body. `agent: false` opens a separate connection. */
export function openRequest({ method, url, headers, body }: Delivery, agent: Agent | false): ClientRequest {
  const length = method === 'GET' ? {} : { 'content-length': String(body.byteLength) }
  const make = url.startsWith('https:') ? httpsRequest : httpRequest
  return make(url, { method, agent, headers: { ...headers, ...length } })
}

/** Rejects when no status arrives. A status is an answer even when the body breaks off. */
export function answerTo(request: ClientRequest, limits: ExchangeLimits): Promise<HttpAnswer> {
  const { signal } = limits
  return new Promise((resolve, reject) => {
    const abort = () => request.destroy(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    let answered = false
    request.on('error', (error) => {
      if (!answered) reject(error)
    })
    request.on('close', () => {
      signal.removeEventListener('abort', abort)
      // A 101 closes the connection without an answer or an error.
      if (!answered) reject(new Error('the connection was closed without an answer'))
    })
    request.on('response', (response) => {
      answered = true
      const { statusCode: httpStatus = 0, headers } = response
      readBody(request, response, limits, (body) => resolve({ httpStatus, headers, body }))
    })
  })
}

function readBody(
  request: ClientRequest,
  response: IncomingMessage,
  { keepBytes = 64 * 1024, closeAfterMs }: ExchangeLimits,
  onBody: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = closeAfterMs === undefined ? undefined : setTimeout(finish, closeAfterMs)
  function finish(): void {
    clearTimeout(timer)
    if (closeAfterMs !== undefined) request.destroy()
    onBody(Buffer.concat(chunks).subarray(0, keepBytes))
  }
  response.on('data', (chunk: Buffer) => {
    if (bytes < keepBytes) chunks.push(chunk)
    bytes += chunk.byteLength
    if (closeAfterMs !== undefined && bytes > keepBytes) finish()
  })
  response.on('end', finish).on('error', finish).on('close', finish)
}

/** Call `clear` when the work has ended. */
export function timeLimit(ms: number): { readonly signal: AbortSignal; clear(): void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}
