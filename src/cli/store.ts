/** The store a command is about: as it is told, as the environment says, as the configuration says, or that of this folder. */
import { existsSync, readdirSync } from 'node:fs'
import type { EncryptionOptions } from '../encryption/key-ring.js'
import { openStore } from '../open-store.js'
import type { Store } from '../store.js'
import { defaultStore } from './dev/folder.js'
import { Failure, UsageError } from './failure.js'
import { put } from './streams.js'

/** A store that may not be there yet. */
export async function openAnyStore(given: string | undefined): Promise<Store> {
  const { store, encryption } = await chosen(given)
  return withKeys(typeof store === 'string' ? await openStore(store) : store, encryption)
}

/** A store that is there: reading must not make an empty one. */
export async function openExistingStore(given: string | undefined): Promise<Store> {
  const { store, encryption } = await chosen(given)
  if (typeof store === 'string') insistOnFile(store)
  return withKeys(typeof store === 'string' ? await openStore(store) : store, encryption)
}

function insistOnFile(url: string): void {
  if (!url.startsWith('sqlite:')) return
  const path = url.slice('sqlite:'.length)
  if (path === ':memory:')
    throw new UsageError('sqlite::memory: lives and dies with one process. Name a file.')
  if (!existsSync(path))
    throw new Failure(
      `There is no log at ${path}. Start hookonce dev in this folder, or say where the log is with --store or --server.`,
    )
}

interface Chosen {
  readonly store: Store | string
  readonly encryption?: EncryptionOptions
}

async function chosen(given: string | undefined): Promise<Chosen> {
  if (!hasConfig()) return { store: given || process.env.HOOKONCE_STORE || defaultStore }
  const { loadConfig } = await import('../config/load.js')
  // HOOKONCE_STORE goes before what the file says, and so does --store; its keys are needed with any of them.
  const env = given ? { ...process.env, HOOKONCE_STORE: given } : process.env
  const { config } = await loadConfig({ env }).catch((error: unknown) => {
    if (given) return withoutKeys(given, error)
    throw error
  })
  const store = typeof config.store === 'function' ? config.store() : config.store
  return { store, ...(config.encryption ? { encryption: config.encryption as EncryptionOptions } : {}) }
}

/** A store that was named can be looked at without the configuration, but for what is encrypted in it. */
function withoutKeys(store: string, error: unknown): { config: Chosen } {
  const problem = error instanceof Error ? error.message : 'it cannot be read'
  put(
    process.stderr,
    `hookonce: the configuration in this folder is not used, nor are its encryption keys: ${problem}\n`,
  )
  return { config: { store } }
}

/** Payloads that are encrypted in the store are read and written through its keys. */
async function withKeys(store: Store, encryption: EncryptionOptions | undefined): Promise<Store> {
  if (!encryption) return store
  const [{ encrypted }, { keyRing }] = await Promise.all([
    import('../encryption/encrypted.js'),
    import('../encryption/key-ring.js'),
  ])
  return encrypted(store, keyRing(encryption))
}

/** Asked by name only: the loader and its TypeScript runner are not needed to know. */
export function hasConfig(): boolean {
  return readdirSync('.').some((name) => /^hookonce\.config\.(ts|js|mjs)$/.test(name))
}
