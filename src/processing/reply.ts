/** `return reply(...)`: the handler of an inline source answers the request that delivered its event. */
import { invalid } from '../errors.js'
import { type ClaimedEvent, limits, type Reply } from '../model.js'
import type { Source } from '../provider.js'
import { need, type Store } from '../store.js'
import { permanent } from './failure.js'
import { isWholeDelivery } from './payload.js'

export interface ReplyOptions {
  /** From 200 to 499. Default 200. */
  readonly status?: number
  /** Default: a `content-type` that fits the body. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An application can hold two copies of this package; both know this name. */
const BRAND = Symbol.for('hookonce.reply')

/**
 * `return reply(body)` in a handler of a source with `mode: 'inline'`: the HTTP response to the delivery. Text and bytes are
 * sent as they are, any other value as JSON. It is committed together with the outcome, and a duplicate gets it again.
 */
export function reply(body: unknown, { status = 200, headers = {} }: ReplyOptions = {}): Reply {
  if (!Number.isInteger(status) || status < 200 || status > 499)
    throw invalid(
      'The status of a reply',
      `must be from 200 to 499, not ${status}; throw an error to let the sender deliver again`,
    )
  const { type, bytes } = encoded(body)
  if (bytes.byteLength > limits.replyBytes)
    throw invalid(
      'The body of a reply',
      `must not be larger than ${limits.replyBytes} bytes, and has ${bytes.byteLength}`,
    )
  if (bytes.byteLength > 0 && withoutBody.includes(status))
    throw invalid('The body of a reply', `must be empty with the status ${status}: use reply('')`)
  const given = checkedHeaders(headers)
  const all = bytes.byteLength > 0 ? { 'content-type': type, ...given } : given
  return Object.freeze({ httpStatus: status, headers: all, body: bytes, [BRAND]: true })
}

/** HTTP sends no body with them. */
const withoutBody: readonly number[] = [204, 205, 304]

function encoded(body: unknown): { readonly type: string; readonly bytes: Uint8Array } {
  if (typeof body === 'string') return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(body) }
  // A copy: the handler may use its memory again.
  if (body instanceof Uint8Array) return { type: 'application/octet-stream', bytes: Buffer.from(body) }
  const text = JSON.stringify(body) as string | undefined
  if (text === undefined)
    throw invalid('The body of a reply', `must be text, bytes or a JSON value, not ${typeof body}`)
  return { type: 'application/json', bytes: Buffer.from(text) }
}

/** They belong to the connection, which the server manages. */
const ofConnection = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function checkedHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {}
  let bytes = 0
  for (const [key, value] of Object.entries(given)) {
    const name = key.toLowerCase()
    if (!HEADER_NAME.test(name))
      throw invalid('The name of a header of a reply', 'must have letters, digits and dashes only')
    if (ofConnection.has(name))
      throw invalid(`The header ${name}`, 'is not allowed in a reply, because the server sets it')
    if (typeof value !== 'string' || !HEADER_VALUE.test(value))
      throw invalid(`The header ${name} of a reply`, 'must be text without line breaks, in Latin-1')
    if (Object.hasOwn(headers, name)) throw invalid(`The header ${name} of a reply`, 'must be given once')
    headers[name] = value
    bytes += name.length + value.length
  }
  if (bytes > limits.replyHeaderBytes)
    throw invalid(
      'The headers of a reply',
      `must not have more than ${limits.replyHeaderBytes} bytes together, and have ${bytes}`,
    )
  return headers
}

/**
 * The reply in what a handler has returned. One that no sender could get fails the attempt for good: the handler and the
 * options of its source do not fit together.
 */
export function replyIn(
  store: Pick<Store, 'name' | 'replies'>,
  sources: ReadonlyMap<string, Source>,
  claimed: ClaimedEvent,
  returned: unknown,
): Reply | null {
  if (!isReply(returned)) return null
  need(store, 'replies', 'reply(...)')
  // A consumer is not in this map: its handler runs after the sender was answered.
  const source = sources.get(claimed.source)
  if (source?.mode !== 'inline')
    throw permanent(
      `the handler returned a reply, and the sender was answered before it ran: set mode: 'inline' on the source "${claimed.source}", or return nothing`,
    )
  if (!isWholeDelivery(source, claimed))
    throw permanent(
      'the handler returned a reply, and its delivery has several events, which have one answer together: return nothing for them',
    )
  return returned
}

export function refuseReply(returned: unknown): void {
  if (isReply(returned))
    throw permanent(
      'the handler of a batch returned a reply, which is for one event: use `on` instead of `onBatch`',
    )
}

function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && BRAND in value
}
