/** Files in `.hookonce/`. Only their owner can read them, and git ignores them. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeys, type KeyPair, type KeyType } from '../../verification/schemes/key-formats.js'
import { Failure, UsageError } from '../failure.js'
import { secretOf } from '../options.js'

export const folder = '.hookonce'
export const defaultStore = `sqlite:${folder}/events.db`

/** Test deliveries are signed with them. Some senders need a key pair instead of the secret. */
export interface DevCredentials {
  readonly secret: string
  readonly keys: Readonly<Record<KeyType, KeyPair>>
}

const keyTypes: readonly KeyType[] = ['ed25519', 'p256', 'rsa']

export function makeFolder(): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  create('.gitignore', '*\n')
}

/** A secret that the user gives replaces the one in the folder. */
export function makeCredentials(secretFile?: string): DevCredentials {
  makeFolder()
  const secret = secretOf(secretFile, 'HOOKONCE_DEV_SECRET')
  if (secret === undefined) create('secret', `${randomBytes(32).toString('hex')}\n`)
  else replace('secret', `${checkSecret(secret)}\n`)
  if (!existsSync(join(folder, 'keys.json'))) {
    const pairs = Object.fromEntries(keyTypes.map((type) => [type, generateKeys(type)]))
    create('keys.json', `${JSON.stringify(pairs, null, 2)}\n`)
  }
  const made = existingCredentials()
  if (made === null) throw noCredentials()
  return made
}

export function existingCredentials(): DevCredentials | null {
  const fromEnv = process.env.HOOKONCE_DEV_SECRET
  const secret = fromEnv ? checkSecret(fromEnv) : read('secret')?.trim()
  const keys = read('keys.json')
  return secret && keys !== null ? { secret, keys: JSON.parse(keys) as DevCredentials['keys'] } : null
}

export function makeToken(): { readonly token: string; readonly isNew: boolean } {
  makeFolder()
  const isNew = read('token') === null
  create('token', `hko_${randomBytes(32).toString('base64url')}\n`)
  return { token: readToken()!, isNew }
}

export function readToken(): string | null {
  return read('token')?.trim() || null
}

export function noCredentials(): Failure {
  return new Failure(
    `There is no development secret in ${folder}/. Run hookonce dev in this folder first, or give --secret-file.`,
  )
}

export function writePage(html: string): void {
  replace('dashboard.html', html)
}

function checkSecret(secret: string): string {
  if (Buffer.byteLength(secret.trim()) < 16)
    throw new UsageError(
      'The development secret must have at least 16 characters. Make one with: openssl rand -hex 32',
    )
  return secret.trim()
}

function read(name: string): string | null {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** When two processes start at once, the first one writes and both read its file. */
function create(name: string, text: string): void {
  try {
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function replace(name: string, text: string): void {
  if (read(name) === text) return
  const next = join(folder, `${name}.${process.pid}`)
  writeFileSync(next, text, { mode: 0o600 })
  renameSync(next, join(folder, name))
}
