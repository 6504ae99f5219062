/** What sessions are keyed with beside the token's hash, which a configuration file may show. */
import { randomBytes } from 'node:crypto'
import type { Inbox } from '../../inbox.js'

export type SessionSecret = () => Promise<string>

/** Made once and kept in the log: every node of it has the same. */
export function sessionSecretOf(inbox: Inbox, given: string | undefined): SessionSecret {
  if (given !== undefined) return async () => given
  let kept: Promise<string> | undefined
  return () => {
    kept ??= inbox
      .once('hookonce session secret', () => randomBytes(32).toString('base64url'))
      .catch((error: unknown) => {
        kept = undefined // the store may be back for the next one
        throw error
      })
    return kept
  }
}
