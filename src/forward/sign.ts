/**
 * Headers of a forwarded event: Standard Webhooks, those of hookonce, and those of the user. Of the received ones only
 * the content type.
 */
import { sha256 } from '../digest.js'
import type { HandledEvent } from '../processing/handler.js'
import type { Source } from '../provider.js'

export interface Signing {
  readonly signers: readonly Source[]
  readonly headers: Readonly<Record<string, string>>
}

export async function headersFor(
  { signers, headers }: Signing,
  event: Pick<HandledEvent, 'id' | 'type' | 'source' | 'raw' | 'slice' | 'headers'>,
  attempt: number,
  now: number,
): Promise<Record<string, string>> {
  const id = headerId(event.id)
  const signed = await signatures(signers, id, event.slice, now)
  // A slice of a delivery with several events is JSON, whatever the delivery is: lines, or a field of a form.
  const isSlice = event.slice.byteLength !== event.raw.byteLength
  const contentType = isSlice ? 'application/json' : (event.headers['content-type'] ?? '')
  return {
    'user-agent': 'hookonce',
    ...headers,
    ...(/^[\t\x20-\x7e]+$/.test(contentType) ? { 'content-type': contentType } : {}),
    ...signed,
    'hookonce-source': event.source,
    'hookonce-type': headerText(event.type),
    'hookonce-attempt': String(attempt),
  }
}

/** One signature for each secret: the receiver may have the old secret or the new one. */
export async function signatures(
  signers: readonly Source[],
  id: string,
  body: Uint8Array,
  now: number,
): Promise<Record<string, string>> {
  const signed = await Promise.all(signers.map((signer) => signer.sign({ body, id, now })))
  return {
    'webhook-id': id,
    'webhook-timestamp': signed[0]!.headers['webhook-timestamp']!,
    'webhook-signature': signed.map(({ headers }) => headers['webhook-signature']!).join(' '),
  }
}

/** A header cannot contain every character, so other ids are replaced by their digest. */
export function headerId(id: string): string {
  if (/^[\x21-\x7e]+$/.test(id)) return id
  return `hookonce_${Buffer.from(sha256(Buffer.from(id))).toString('base64url')}`
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]+/gu, (other) => encodeURIComponent(other.toWellFormed()))
}
