import { createHash } from 'node:crypto'
import { isObject } from '../options.js'
import type { Token } from '../server/admin/options.js'

export type Environment = Readonly<Record<string, string | undefined>>

const MIN_TOKEN_LENGTH = 16

interface Overridden {
  readonly config: Record<string, unknown>
  readonly problems: readonly string[]
}

/** Applied before the file is checked, so that all problems are reported together. */
export function withEnvironment(exported: unknown, environment: Environment): Overridden {
  const problems: string[] = []
  if (!isObject(exported)) return { config: exported as Record<string, unknown>, problems }
  const config = { ...exported }
  const store = environment.HOOKONCE_STORE?.trim()
  if (store) config.store = store
  const server: Record<string, unknown> = isObject(config.server) ? { ...config.server } : {}
  const host = environment.HOOKONCE_HOST?.trim()
  if (host) server.host = host
  const port = environment.HOOKONCE_PORT?.trim()
  if (port) {
    if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) server.port = Number(port)
    else problems.push('HOOKONCE_PORT must be a whole number from 0 to 65535')
  }
  const token = environment.HOOKONCE_ADMIN_TOKEN?.trim()
  if (token) {
    if (token.length < MIN_TOKEN_LENGTH) {
      problems.push(
        `HOOKONCE_ADMIN_TOKEN must have ${MIN_TOKEN_LENGTH} characters or more: openssl rand -hex 32 makes one`,
      )
    } else if (server.admin !== false) server.admin = withToken(server.admin, token)
  }
  if (isObject(config.server) || Object.keys(server).length > 0) config.server = server
  return { config, problems }
}

function withToken(admin: unknown, token: string): object {
  const options = isObject(admin) ? admin : {}
  const tokens = Array.isArray(options.tokens) ? options.tokens : []
  return { ...options, tokens: [...tokens, environmentToken(token)] }
}

/** Only the hash of a token is kept. */
function environmentToken(token: string): Token {
  return { name: 'environment', role: 'admin', sha256: createHash('sha256').update(token).digest('hex') }
}
