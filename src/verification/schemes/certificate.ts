/**
 * The sender's public key, from a certificate whose URL is in the delivery. The URL comes from a stranger, so only the
 * sender's own host is asked, over https, without redirects, with limits on time and size, and the result is cached.
 * Besides key sets (JWKS) this is the only I/O of verification.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import type { RejectReason } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import type { Reading } from '../delivery/reading.js'
import type { SchemeContext } from '../scheme.js'
import { isOfType, type KeyType } from './key-formats.js'

export interface CertificateRule {
  readonly url: FieldText
  /** Matches the whole host name: use `^` and `$`. */
  readonly host: RegExp
  /** Matches the whole path, for a sender with a fixed one. */
  readonly path?: RegExp
}

const maxCached = 16
const maxBytes = 65_536
const timeoutMs = 5_000
/** Between two attempts after a failure: forged deliveries must not cause a request each. */
const retryAfterMs = 30_000

type Found = KeyObject | RejectReason

export function certificateKeys(rule: CertificateRule, keyType: KeyType, context: SchemeContext) {
  const readUrl = context.compiler.field(rule.url)
  const load = (context.options.fetch as typeof fetch | undefined) ?? fetch
  const cache = new Map<string, { found: Found | Promise<Found>; at: number }>()

  async function fetchKey(url: string): Promise<Found> {
    try {
      const response = await load(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
      // The sender's host answers that the certificate does not exist: the URL is forged, it is not an outage.
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
      const known = cache.get(url)
      const failed = known !== undefined && typeof known.found === 'string'
      if (known !== undefined && (!failed || Date.now() - known.at < retryAfterMs)) return known.found
      // Forged URLs fill the cache with failures. They are removed; good keys stay.
      if (cache.size >= maxCached)
        for (const [name, { found }] of cache) if (typeof found === 'string') cache.delete(name)
      if (cache.size >= maxCached) return 'key_unavailable'
      const entry: { found: Found | Promise<Found>; at: number } = {
        found: 'key_unavailable',
        at: Date.now(),
      }
      entry.found = fetchKey(url).then((found) => {
        entry.found = found
        return found
      })
      cache.set(url, entry)
      return entry.found
    },
  }
}

/** Null when the body is larger; the rest is not read. */
async function readUpTo(response: Response, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // A return cancels the body.
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
