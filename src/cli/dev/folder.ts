/** `.hookonce/`: what development keeps in a folder. Only its owner can read it, and git never sees it. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeys, type KeyPair, type KeyType } from '../../verification/schemes/key-formats.js'
import { Failure, UsageError } from '../failure.js'

export const folder = '.hookonce'
export const defaultStore = `sqlite:${folder}/events.db`

/** What synthetic deliveries are signed with: one secret, and a key pair of each kind for senders that have one. */
export interface DevCredentials {
  readonly secret: string
  readonly keys: Readonly<Record<KeyType, KeyPair>>
}

const keyTypes: readonly KeyType[] = ['ed25519', 'p256', 'rsa']

export function makeFolder(): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  create('.gitignore', '*\n')
}

/** Those of this folder, made when they are not there yet. A given secret is kept for the next command. */
export function makeCredentials(given: string | undefined): DevCredentials {
  makeFolder()
  const secret = given ?? process.env.HOOKONCE_DEV_SECRET
  if (secret === undefined) create('secret', `${randomBytes(32).toString('hex')}\n`)
  else replace('secret', `${checkSecret(secret)}\n`)
  if (!existsSync(join(folder, 'keys.json'))) {
    const pairs = Object.fromEntries(keyTypes.map((type) => [type, generateKeys(type)]))
    create('keys.json', `${JSON.stringify(pairs, null, 2)}\n`)
  }
  return readCredentials()
}

/** Those of this folder. They must be there: made-up ones would only be refused. */
export function readCredentials(): DevCredentials {
  const given = process.env.HOOKONCE_DEV_SECRET
  const secret = given ? checkSecret(given) : read('secret')?.trim()
  const keys = read('keys.json')
  if (!secret || keys === null) throw noCredentials()
  return { secret, keys: JSON.parse(keys) as DevCredentials['keys'] }
}

export function noCredentials(): Failure {
  return new Failure(
    `There is no development secret in ${folder}/. Run hookonce dev in this folder first, or give --secret-file.`,
  )
}

function checkSecret(secret: string): string {
  if (Buffer.byteLength(secret.trim()) < 16)
    throw new UsageError('The development secret needs at least 16 characters. Try: openssl rand -hex 32')
  return secret.trim()
}

function read(name: string): string | null {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** Two processes may start at once: the first to write wins, and both read what is there. */
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
