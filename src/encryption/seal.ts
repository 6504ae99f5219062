/**
 * Sealing: the headers and the body of a delivery become one ciphertext (AES-256-GCM), and the headers only say which key.
 * The source is bound to it: bytes moved to another source do not open.
 *
 * The sealed body: version (1 byte), nonce (12), tag (16), then the encrypted [length of the headers (4), headers as JSON,
 * body].
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { HookonceError } from '../errors.js'
import type { KeyRing } from './keys.js'

type Headers = Readonly<Record<string, string>>

export interface Sealable {
  readonly headers: Headers
  readonly body: Uint8Array
}

/** No header of a sender has a colon in its name, so none can claim to be this one. */
const MARK = ':encrypted'
const VERSION = 1
const NONCE = 12
const TAG = 16
const START = 1 + NONCE + TAG

export function keyOf(headers: Headers): string | null {
  return headers[MARK] ?? null
}

/** What is sealed already stays as it is. */
export function seal<D extends Sealable & { readonly source: string }>(ring: KeyRing, delivery: D): D {
  if (keyOf(delivery.headers) !== null) return delivery
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', ring.get(ring.current)!, nonce)
  cipher.setAAD(boundTo(delivery.source, ring.current))
  const headers = Buffer.from(JSON.stringify(delivery.headers))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(headers.byteLength)
  const sealed = [cipher.update(length), cipher.update(headers), cipher.update(delivery.body), cipher.final()]
  const body = Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), ...sealed])
  return { ...delivery, headers: { [MARK]: ring.current }, body }
}

/** Throws ENCRYPTION_KEY_MISSING or ENCRYPTION_KEY_WRONG. What was stored before there were keys is given as it is. */
export function unseal(ring: KeyRing, source: string, { headers, body }: Sealable): Sealable {
  const id = keyOf(headers)
  if (id === null) return { headers, body }
  const key = ring.get(id)
  if (!key) throw new HookonceError('ENCRYPTION_KEY_MISSING', { source, key: id })
  try {
    if (body[0] !== VERSION || body.byteLength < START) throw new Error('not a sealed body')
    const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(1, 1 + NONCE), { authTagLength: TAG })
    decipher.setAAD(boundTo(source, id))
    decipher.setAuthTag(body.subarray(1 + NONCE, START))
    const opened = Buffer.concat([decipher.update(body.subarray(START)), decipher.final()])
    const end = 4 + opened.readUInt32BE(0)
    return { headers: JSON.parse(opened.toString('utf8', 4, end)) as Headers, body: opened.subarray(end) }
  } catch {
    throw new HookonceError('ENCRYPTION_KEY_WRONG', { source, key: id })
  }
}

function boundTo(source: string, key: string): Buffer {
  return Buffer.from(JSON.stringify(['hookonce', VERSION, source, key]))
}
