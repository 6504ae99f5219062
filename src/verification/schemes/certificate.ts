/**
 * The sender's public key in a certificate that the delivery points to. The URL comes from a stranger, so it is
 * followed only to the sender's own host, over https, without redirects, bounded in time and size, and the result is
 * kept. This is the one place besides key sets (JWKS) where verification does I/O.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import type { RejectReason } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import type { Reading } from '../delivery/reading.js'
import type { SchemeContext } from '../scheme.js'
import { isOfType, type KeyType } from './keys.js'

export interface CertificateRule {
  readonly url: FieldText
  /** The whole host name. Anchor it. */
  readonly host: RegExp
  /** The whole path, where the sender fixes it. */
  readonly path?: RegExp
}

const maxKept = 16
const maxBytes = 65_536
const timeoutMs = 5_000
/** After a failure, so that forged deliveries cannot make us hammer the sender. */
const retryAfterMs = 30_000

type Found = KeyObject | RejectReason

export function certificateKeys(rule: CertificateRule, keyType: KeyType, context: SchemeContext) {
  const readUrl = context.compiler.field(rule.url)
  const load = (context.options.fetch as typeof fetch | undefined) ?? fetch
  const kept = new Map<string, { found: Found | Promise<Found>; at: number }>()

  async function fetchKey(url: string): Promise<Found> {
    try {
      const response = await load(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
      // The sender's host is there and has no such certificate: not an outage, a name that somebody made up.
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return 'unknown_key'
      const bytes = response.ok ? await readUpTo(response, maxBytes) : null
      if (bytes === null) return 'key_unavailable'
      const certificate = new X509Certificate(bytes)
      const now = Date.now()
      if (Date.parse(certificate.validTo) < now || Date.parse(certificate.validFrom) > now)
        return 'unknown_key'
      return isOfType(certificate.publicKey, keyType) ? certificate.publicKey : 'unknown_key'
    } catch {
      return 'key_unavailable'
    }
  }

  return {
    find(reading: Reading): Found | Promise<Found> {
      const url = allowedUrl(readUrl(reading), rule)
      if (url === null) return 'unknown_key'
      const known = kept.get(url)
      const failed = known !== undefined && typeof known.found === 'string'
      if (known !== undefined && (!failed || Date.now() - known.at < retryAfterMs)) return known.found
      // Full of names that a stranger made up: forget the failures, never a good key.
      if (kept.size >= maxKept)
        for (const [name, { found }] of kept) if (typeof found === 'string') kept.delete(name)
      if (kept.size >= maxKept) return 'key_unavailable'
      const entry: { found: Found | Promise<Found>; at: number } = {
        found: 'key_unavailable',
        at: Date.now(),
      }
      entry.found = fetchKey(url).then((found) => {
        entry.found = found
        return found
      })
      kept.set(url, entry)
      return entry.found
    },
  }
}

/** Null when there is more; the rest is not read. */
async function readUpTo(response: Response, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the body.
    if (size > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function allowedUrl(text: string | undefined, rule: CertificateRule): string | null {
  if (text === undefined || text.length > 500 || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return null
  if (!rule.host.test(url.hostname) || (rule.path !== undefined && !rule.path.test(url.pathname))) return null
  return url.origin + url.pathname
}
