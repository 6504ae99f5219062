/**
 * Sealing: the headers and the body of a delivery become one ciphertext (AES-256-GCM), and the headers only say which key.
 * The source is bound to it, and so are the events of the delivery: each with its id and a digest of its content. Bytes
 * that were moved to another source, event or place in a delivery do not open.
 *
 * The sealed body: version (1 byte), nonce (12), tag (16), then the encrypted [length of the head (4), head as JSON, body].
 * Version 1, which older payloads have, has the headers as its head and is not bound to events.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import { HookonceError } from '../errors.js'
import { contestedId, type EventKey, type NewEvent } from '../model.js'
import type { KeyRing } from './key-ring.js'

type Headers = Readonly<Record<string, string>>

export interface Sealable {
  readonly headers: Headers
  readonly body: Uint8Array
}

/** Whose bytes they are said to be. */
export interface Place extends EventKey {
  readonly part: number
}

interface Head {
  readonly headers: Headers
  /** Of each event its id, and in hexadecimal what its id would be made of if it were contested. */
  readonly events: readonly (readonly [string, string | null])[]
}

/** No header of a sender has a colon in its name, so none can claim to be this one. */
const MARK = ':encrypted'
const VERSION = 2
const UNBOUND = 1
const NONCE = 12
const TAG = 16
const START = 1 + NONCE + TAG

export function keyOf(headers: Headers): string | null {
  return headers[MARK] ?? null
}

/** What is sealed already stays as it is. */
export function seal<D extends Sealable & { readonly source: string; readonly events: readonly NewEvent[] }>(
  ring: KeyRing,
  delivery: D,
): D {
  if (keyOf(delivery.headers) !== null) return delivery
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', ring.get(ring.current)!, nonce)
  cipher.setAAD(boundTo(VERSION, delivery.source, ring.current))
  const events = delivery.events.map(
    ({ eventId, contentHash, guardHash }) => [eventId, hex(contentHash ?? guardHash)] as const,
  )
  const head = Buffer.from(JSON.stringify({ headers: delivery.headers, events } satisfies Head))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.byteLength)
  const sealed = [cipher.update(length), cipher.update(head), cipher.update(delivery.body), cipher.final()]
  const body = Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), ...sealed])
  return { ...delivery, headers: { [MARK]: ring.current }, body }
}

/**
 * Throws ENCRYPTION_KEY_MISSING, ENCRYPTION_KEY_WRONG or ENCRYPTION_MISPLACED. What was stored before there were keys is
 * given as it is, unless the keys say that everything must be encrypted: then ENCRYPTION_REQUIRED.
 */
export function unseal(ring: KeyRing, place: Place, { headers, body }: Sealable): Sealable {
  const { source, eventId } = place
  const id = keyOf(headers)
  if (id === null && ring.required) throw new HookonceError('ENCRYPTION_REQUIRED', { source, eventId })
  if (id === null) return { headers, body }
  const key = ring.get(id)
  if (!key) throw new HookonceError('ENCRYPTION_KEY_MISSING', { source, key: id })
  const opened = open(key, source, id, body)
  if (opened.events && !isOf(opened.events, place))
    throw new HookonceError('ENCRYPTION_MISPLACED', { source, eventId })
  return { headers: opened.headers, body: opened.body }
}

interface Opened extends Sealable {
  /** Null for version 1. */
  readonly events: Head['events'] | null
}

function open(key: KeyObject, source: string, id: string, body: Uint8Array): Opened {
  try {
    const version = body[0]!
    if ((version !== VERSION && version !== UNBOUND) || body.byteLength < START)
      throw new Error('not a sealed body')
    const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(1, 1 + NONCE), { authTagLength: TAG })
    decipher.setAAD(boundTo(version, source, id))
    decipher.setAuthTag(body.subarray(1 + NONCE, START))
    const opened = Buffer.concat([decipher.update(body.subarray(START)), decipher.final()])
    const end = 4 + opened.readUInt32BE(0)
    const head = JSON.parse(opened.toString('utf8', 4, end))
    const rest = opened.subarray(end)
    if (version === UNBOUND) return { headers: head as Headers, body: rest, events: null }
    return { headers: (head as Head).headers, body: rest, events: (head as Head).events }
  } catch {
    throw new HookonceError('ENCRYPTION_KEY_WRONG', { source, key: id })
  }
}

/** Under its own id, or under the one it got because that was contested. */
function isOf(events: Head['events'], { eventId, part }: Place): boolean {
  const [own, content] = events[part] ?? []
  if (own === undefined) return false
  if (own === eventId) return true
  const contentHash = content == null ? null : Buffer.from(content, 'hex')
  return eventId === contestedId({ eventId: own, contentHash, guardHash: null })
}

function boundTo(version: number, source: string, key: string): Buffer {
  return Buffer.from(JSON.stringify(['hookonce', version, source, key]))
}

function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}
