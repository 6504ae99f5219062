/**
 * Mutual TLS that ends at a proxy: the proxy verifies the client certificate and names it in a header. This process sees
 * only the header, so the proxy must remove a header of that name from every request that comes from outside.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { FieldText } from '../delivery/field.js'
import { reject, type SchemeDefinition } from '../scheme.js'
import { credentialTexts, type Secrets } from './secret.js'

export interface ClientCertificateRule {
  readonly in: FieldText
  /** The text that the header has: a digest of the certificate (SHA-1 or SHA-256, in hex), or its subject. */
  readonly names: 'fingerprint' | 'subject'
}

/** The lengths in hex of SHA-1, which is all that nginx has, and of SHA-256. */
const fingerprintLengths = [40, 64]

/** The accepted fingerprints or subjects. They are public, so they are never masked in logs. */
export function clientCertificateScheme(rule: ClientCertificateRule): SchemeDefinition<Secrets> {
  const normal = rule.names === 'fingerprint' ? plainHex : (text: string) => text.trim()
  return {
    credential: 'publicKey',
    extraOptions: [],
    credentialNeeded: true,
    create(context) {
      const { provider, credential } = context
      const texts = credentialTexts(context).map(normal)
      for (const text of texts) {
        if (rule.names === 'subject' || isFingerprint(text)) continue
        const form = 'a SHA-1 or SHA-256 fingerprint in hex, with or without colons'
        throw new HookonceError('SECRET_FORM', { provider, option: credential, form })
      }
      const read = context.compiler.field(rule.in)
      const digests = texts.map(digest)
      return {
        facts: {
          kind: 'mtls',
          credential,
          signatureIn: [rule.in],
          each: null,
          encoding: null,
          separator: null,
          covers: { body: 'none', url: false, fields: [] },
          timestamp: null,
        },
        keyCount: texts.length,
        verify(reading) {
          const text = read(reading)
          if (text === undefined || text.trim() === '') return reject('missing_signature')
          // Digests are compared, so that the time taken shows neither the length nor a common prefix.
          const found = digest(normal(text))
          let secretIndex = -1
          for (let index = 0; index < digests.length; index += 1) {
            if (timingSafeEqual(found, digests[index]!) && secretIndex < 0) secretIndex = index
          }
          return secretIndex < 0 ? reject('bad_signature') : { ok: true, secretIndex }
        },
        sign(draft) {
          draft.headers[rule.in.slice('header:'.length).toLowerCase()] = texts[0]!
        },
      }
    },
    example: () => ({
      credential: rule.names === 'fingerprint' ? randomBytes(32).toString('hex') : 'CN=hookonce',
      extra: {},
    }),
  }
}

/** Proxies write a fingerprint in either case, with or without colons. */
function plainHex(text: string): string {
  return text.trim().replaceAll(':', '').toLowerCase()
}

function isFingerprint(text: string): boolean {
  return fingerprintLengths.includes(text.length) && /^[0-9a-f]+$/.test(text)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
