/** `hookonce token create`: a random token, and what the configuration must know of it. */
import { createHash, randomBytes } from 'node:crypto'
import { UsageError } from './failure.js'
import type { Output } from './output.js'

export interface TokenOptions {
  readonly name: string
  readonly role: string
  readonly expires?: number
}

export async function createToken(output: Output, { name, role, expires }: TokenOptions): Promise<void> {
  if (!/^[A-Za-z0-9_.@+-]{1,64}$/.test(name))
    throw new UsageError('--name takes letters, digits and _ . @ + -, 64 at most.')
  const token = `hko_${randomBytes(32).toString('base64url')}`
  const entry = {
    name,
    role,
    sha256: createHash('sha256').update(token).digest('hex'),
    ...(expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires).toISOString() }),
  }
  output.result({ token, entry }, () => token)
  if (output.json) return
  const line = Object.entries(entry)
    .map(([key, value]) => `${key}: '${value}'`)
    .join(', ')
  output.say(`The token is shown once. In hookonce.config.ts, under server.admin.tokens:\n  { ${line} },`)
}
