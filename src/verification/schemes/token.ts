/** A shared token sent with every delivery: it proves who sends, and covers nothing of what is sent. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SchemeFacts } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import { putField } from '../delivery/put.js'
import { reject, type Scheme, type SchemeContext, type SecretScheme } from '../scheme.js'
import { type SecretRule, type Secrets, secretKeys } from './secret.js'

export interface TokenRule {
  /** A JSON path with `[]` reads them all, and all must match (Microsoft Graph). */
  readonly in: FieldText
  /** Before the token, e.g. `Bearer `. */
  readonly prefix?: string
  readonly minBytes?: SecretRule['minBytes']
}

/** Tokens are often typed by people; below this they can be guessed over the network. */
const leastBytes = 8

export function tokenScheme(rule: TokenRule): SecretScheme<Secrets> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create: (context) => createTokenScheme('token', rule, context, (secret) => (rule.prefix ?? '') + secret),
    example: () => ({ credential: randomBytes(24).toString('base64url'), extra: {} }),
  }
}

/** `expected` is the whole text a delivery must carry for a secret. */
export function createTokenScheme(
  kind: SchemeFacts['kind'],
  rule: TokenRule,
  context: SchemeContext,
  expected: (secret: string) => string,
): Scheme {
  const place = context.compiler.fill(rule.in) as FieldText
  const read = context.compiler.all(place)
  const secretRule = rule.minBytes === undefined ? {} : { minBytes: rule.minBytes }
  const texts = secretKeys(context, secretRule, leastBytes).map((key) => expected(key.toString('utf8')))
  const digests = texts.map(digest)
  return {
    facts: {
      kind,
      credential: context.credential,
      signatureIn: [place],
      each: null,
      encoding: null,
      separator: null,
      covers: { body: 'none', url: false, fields: [] },
      timestamp: null,
    },
    keyCount: texts.length,
    verify(reading) {
      const given = read(reading)
      if (reading.unreadable) return reject('malformed_body')
      if (given.length === 0 || given[0] === '') return reject('missing_signature')
      // Digests of both, so that neither length nor a common beginning shows in the time. Only the first of several is
      // hashed: who does not know the secret causes no more work than that, and the others only have to be like it.
      const hash = digest(given[0]!)
      let secretIndex = -1
      for (let index = 0; index < digests.length; index += 1) {
        if (timingSafeEqual(hash, digests[index]!) && secretIndex < 0) secretIndex = index
      }
      if (secretIndex < 0 || given.some((text) => text !== given[0])) return reject('bad_signature')
      return { ok: true, secretIndex }
    },
    sign: (draft) => putField(draft, place, texts[0]!),
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
