/**
 * The sender's public key, from a certificate whose URL is in the delivery. The URL comes from a stranger, so only the
 * sender's own hosts are asked, over https, without redirects and within the budget of `key-cache.ts`. Besides key sets
 * (JWKS) this is the only I/O of verification.
 */
import { X509Certificate } from 'node:crypto'
import type { FieldText } from '../delivery/field.js'
import type { Reading } from '../delivery/reading.js'
import type { SchemeContext } from '../scheme.js'
import { type FoundKey, KeyCache } from './key-cache.js'
import { fetchBytes } from './key-fetch.js'
import { isOfType, type KeyType } from './key-formats.js'

export interface CertificateRule {
  readonly url: FieldText
  /** A function if the hosts follow from the options of the source. */
  readonly hosts: readonly string[] | ((options: SchemeContext['options']) => readonly string[])
  /** Matches the whole path: use `^` and `$`. */
  readonly path: RegExp
}

export function certificateKeys(rule: CertificateRule, keyType: KeyType, context: SchemeContext) {
  const readUrl = context.compiler.field(rule.url)
  const load = (context.options.fetch as typeof fetch | undefined) ?? fetch
  const hosts = new Set(typeof rule.hosts === 'function' ? rule.hosts(context.options) : rule.hosts)
  const cache = new KeyCache(async (url) => {
    const bytes = await fetchBytes(load, url)
    // The sender's host answers that the certificate does not exist: the URL is forged, it is not an outage.
    if (bytes === 'missing') return 'unknown_key'
    return bytes === 'failed' ? 'key_unavailable' : keyOf(bytes, keyType)
  })
  return {
    find(reading: Reading): FoundKey | Promise<FoundKey> {
      const url = allowedUrl(readUrl(reading), hosts, rule.path)
      return url === null ? 'unknown_key' : cache.find(url)
    },
  }
}

function keyOf(bytes: Buffer, keyType: KeyType): FoundKey {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(bytes)
    const now = Date.now()
    if (Date.parse(validTo) < now || Date.parse(validFrom) > now) return 'unknown_key'
    return isOfType(publicKey, keyType) ? publicKey : 'unknown_key'
  } catch {
    return 'key_unavailable'
  }
}

function allowedUrl(text: string | undefined, hosts: ReadonlySet<string>, path: RegExp): string | null {
  if (text === undefined || text.length > 500 || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return null
  return hosts.has(url.hostname) && path.test(url.pathname) ? url.origin + url.pathname : null
}
