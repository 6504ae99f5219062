/** HTTP Basic authentication: the secret is `user:password`. */
import { randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { SecretScheme } from '../scheme.js'
import { credentialTexts, type Secrets } from './secret.js'
import { createTokenScheme } from './token.js'

const leastPasswordBytes = 8

export function basicScheme(): SecretScheme<Secrets> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create(context) {
      const { provider, credential } = context
      for (const text of credentialTexts(context)) {
        const colon = text.indexOf(':')
        if (colon < 0) {
          throw new HookonceError('SECRET_FORM', { provider, option: credential, form: 'user:password' })
        }
        // The user name is no secret: the length that counts is the password's.
        const found = Buffer.byteLength(text.slice(colon + 1).trim())
        if (found < leastPasswordBytes) {
          throw new HookonceError('SECRET_SHORT', {
            provider,
            option: credential,
            found,
            least: leastPasswordBytes,
          })
        }
      }
      return createTokenScheme('basic', { in: 'header:authorization' }, context, basicHeader)
    },
    example: () => ({ credential: `hookonce:${randomBytes(24).toString('base64url')}`, extra: {} }),
  }
}

function basicHeader(secret: string): string {
  return `Basic ${Buffer.from(secret, 'utf8').toString('base64')}`
}
