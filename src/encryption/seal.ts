/**
 * A sealed delivery is one ciphertext (AES-256-GCM) of its headers and body; its own headers only name the key. It is bound
 * to the source and to the events, each with its id and the hash of its content. It is not opened after a move to another
 * source, event or position in a delivery, nor in the place of a conflict with its event, or the other way round. The
 * consumers of a source share its payloads. A sealed reply is the same for the answer of a handler, bound to its event.
 *
 * Format of the sealed body: version (1 byte), nonce (12), tag (16), then the encrypted [length of the head (4), head as
 * JSON, body].
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { HookonceError } from '../errors.js'
import { type EventKey, followedSource, type NewEvent, type Reply } from '../model.js'
import type { KeyRing } from './key-ring.js'

type Headers = Readonly<Record<string, string>>

export interface Sealable {
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface Place extends EventKey {
  readonly part: number
  readonly contentHash: string | null
  /** Other content under the id of the event. */
  readonly isConflict?: boolean
}

interface Head {
  readonly headers: Headers
  readonly events: readonly (readonly [string, string | null])[]
}

/** Names the key. A sender cannot send it: HTTP allows no colon in a header name. */
const KEY_HEADER = ':encrypted'
const VERSION = 1
const NONCE = 12
const TAG = 16
const START = 1 + NONCE + TAG

export function sealingKeyId(headers: Headers): string | null {
  return headers[KEY_HEADER] ?? null
}

export function seal<D extends Sealable & { readonly source: string; readonly events: readonly NewEvent[] }>(
  ring: KeyRing,
  delivery: D,
): D {
  if (sealingKeyId(delivery.headers) !== null) return delivery
  const events = delivery.events.map(({ id, contentHash }) => [id, hex(contentHash)] as const)
  const { headers } = delivery
  return {
    ...delivery,
    ...close(ring, boundTo(delivery.source, ring.current), { headers, events }, delivery),
  }
}

export function sealReply(ring: KeyRing, { source, id }: EventKey, reply: Reply): Reply {
  const { headers } = reply
  return { ...reply, ...close(ring, boundTo(source, ring.current, id), { headers, events: [] }, reply) }
}

function close(ring: KeyRing, bound: Buffer, named: Head, { body }: Pick<Sealable, 'body'>): Sealable {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', ring.get(ring.current)!, nonce)
  cipher.setAAD(bound)
  const head = Buffer.from(JSON.stringify(named))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.byteLength)
  const sealed = [cipher.update(length), cipher.update(head), cipher.update(body), cipher.final()]
  return {
    headers: { [KEY_HEADER]: ring.current },
    body: Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), ...sealed]),
  }
}

/**
 * Throws ENCRYPTION_KEY_MISSING, ENCRYPTION_KEY_WRONG or ENCRYPTION_MISPLACED. A payload that is not encrypted is returned
 * as it is, unless encryption is required: then ENCRYPTION_REQUIRED.
 */
export function unseal(ring: KeyRing, place: Place, { headers, body }: Sealable): Sealable {
  const { source, id: eventId } = place
  const found = keyOf(ring, place, headers)
  if (found === null) return { headers, body }
  const { head, body: opened } = open(found, source, boundTo(source, found.id), body)
  if (!belongsTo(head.events, place)) throw new HookonceError('ENCRYPTION_MISPLACED', { source, eventId })
  return { headers: head.headers, body: opened }
}

/** Throws as `unseal` does. */
export function unsealReply(ring: KeyRing, event: EventKey, reply: Reply): Reply {
  const found = keyOf(ring, event, reply.headers)
  if (found === null) return reply
  const { source, id } = event
  const { head, body } = open(found, source, boundTo(source, found.id, id), reply.body)
  return { ...reply, headers: head.headers, body }
}

interface Found {
  readonly id: string
  readonly key: KeyObject
}

/** Null when it is not sealed. */
function keyOf(ring: KeyRing, { source, id: eventId }: EventKey, headers: Headers): Found | null {
  const id = sealingKeyId(headers)
  if (id === null && ring.required) throw new HookonceError('ENCRYPTION_REQUIRED', { source, eventId })
  if (id === null) return null
  const key = ring.get(id)
  if (!key) throw new HookonceError('ENCRYPTION_KEY_MISSING', { source, key: id })
  return { id, key }
}

function open(
  { key, id }: Found,
  source: string,
  bound: Buffer,
  body: Uint8Array,
): { head: Head; body: Uint8Array } {
  try {
    if (body[0] !== VERSION || body.byteLength < START) throw new Error('not a sealed body')
    const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(1, 1 + NONCE), { authTagLength: TAG })
    decipher.setAAD(bound)
    decipher.setAuthTag(body.subarray(1 + NONCE, START))
    const opened = Buffer.concat([decipher.update(body.subarray(START)), decipher.final()])
    const end = 4 + opened.readUInt32BE(0)
    return { head: JSON.parse(opened.toString('utf8', 4, end)) as Head, body: opened.subarray(end) }
  } catch {
    throw new HookonceError('ENCRYPTION_KEY_WRONG', { source, key: id })
  }
}

function belongsTo(
  events: Head['events'],
  { id: eventId, part, contentHash, isConflict = false }: Place,
): boolean {
  const found = events[part]
  if (found === undefined) return false
  const [id, content] = found
  return id === eventId && (content === contentHash) !== isConflict
}

/** `reply`: the event of a reply. */
function boundTo(source: string, key: string, ...reply: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(['hookonce', VERSION, followedSource(source), key, ...reply]))
}

function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}
