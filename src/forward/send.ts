/**
 * Sends one request to an endpoint that is not trusted. Each request has its own connection to an address that was
 * checked just before, so no answer of an earlier request can be read. It follows no redirect and uses no proxy. The
 * answer is limited in size and time, and only its status and Retry-After are used.
 */
import { type ClientRequest, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { type BlockList, isIP } from 'node:net'
import { HookonceError, isHookonceError } from '../errors.js'
import { answerTo, timeLimit } from '../http-exchange.js'
import { withoutBrackets } from '../ip.js'
import { type Address, checkedAddresses, type Lookup, lookupAll, pinned, portOf } from './guard.js'

export interface Outgoing {
  /** Names it in errors: `destination "billing"`. */
  readonly what: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Time limit from the DNS lookup to the headers of the answer. */
  readonly timeoutMs: number
  readonly allow: BlockList | null
  readonly lookup?: Lookup | undefined
  readonly signal?: AbortSignal | undefined
  readonly ca?: string | undefined
}

export interface Answered {
  readonly httpStatus: number
  readonly retryAfterMs: number | null
}

const ANSWER_BYTES = 64 * 1024
const ANSWER_HEADER_BYTES = 16 * 1024
const ANSWER_BODY_MS = 2_000

/** Throws DESTINATION_FORBIDDEN or DESTINATION_FAILED without an answer. */
export async function send(outgoing: Outgoing): Promise<Answered> {
  const { what, url, allow, timeoutMs, lookup = lookupAll } = outgoing
  const limit = timeLimit(timeoutMs)
  const signal = AbortSignal.any([limit.signal, ...(outgoing.signal ? [outgoing.signal] : [])])
  try {
    const addresses = await unless(
      signal,
      checkedAddresses(what, withoutBrackets(url.hostname), allow, lookup),
    )
    return await exchange(outgoing, addresses, signal)
  } catch (error) {
    if (isHookonceError(error)) throw error
    throw new HookonceError('DESTINATION_FAILED', { what, problem: problemOf(error, signal) }, error)
  } finally {
    limit.clear()
  }
}

async function exchange(
  outgoing: Outgoing,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<Answered> {
  const request = start(outgoing, addresses)
  request.end(outgoing.body)
  const limits = { signal, keepBytes: ANSWER_BYTES, closeAfterMs: ANSWER_BODY_MS }
  const { httpStatus, headers } = await answerTo(request, limits)
  return { httpStatus, retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) }
}

function start({ url, headers, body, ca }: Outgoing, addresses: readonly Address[]): ClientRequest {
  const host = withoutBrackets(url.hostname)
  const options = {
    method: 'POST',
    host,
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, 'content-length': String(body.byteLength), 'accept-encoding': 'identity' },
    lookup: pinned(addresses),
    maxHeaderSize: ANSWER_HEADER_BYTES,
    insecureHTTPParser: false,
  }
  if (url.protocol === 'http:')
    return plainRequest({ ...options, agent: new PlainAgent({ keepAlive: false }) })
  return tlsRequest({
    ...options,
    agent: new TlsAgent({ keepAlive: false, maxCachedSessions: 0 }),
    // NODE_TLS_REJECT_UNAUTHORIZED=0 must have no effect here.
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
}

function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Only codes and fixed texts: messages of the parser may quote the answer of the endpoint. */
function problemOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted && signal.reason instanceof Error) return signal.reason.message
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? `no answer (${code})` : 'no answer'
}

export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  // Date.parse accepts almost any text; an HTTP date begins with the day of the week.
  const at = /^[A-Z][a-z]{2,8}, .{8,30}$/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
