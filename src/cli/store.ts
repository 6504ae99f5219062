/** The first of these is the store: --store, HOOKONCE_STORE, the configuration, `.hookonce/events.db`. */
import { existsSync, readdirSync } from 'node:fs'
import type { HookonceConfig } from '../config/define.js'
import type { LoadedConfig } from '../config/load.js'
import type { EncryptionOptions } from '../encryption/key-ring.js'
import { openStore } from '../open-store.js'
import type { Store } from '../store.js'
import { defaultStore } from './dev/folder.js'
import { Failure, UsageError } from './failure.js'
import { writeTo } from './output.js'
import { terminalText } from './terminal-text.js'

/** Creates the store when it does not exist. */
export async function openAnyStore(url: string | undefined): Promise<Store> {
  return open(await chooseStore(url))
}

/** A command that reads must not create an empty store. The error names `flags`, the options that name a log. */
export async function openExistingStore(url: string | undefined, flags = '--store'): Promise<Store> {
  const choice = await chooseStore(url)
  if (typeof choice.store === 'string') requireFile(choice.store, flags)
  return open(choice)
}

function requireFile(url: string, flags: string): void {
  if (!url.startsWith('sqlite:')) return
  const path = url.slice('sqlite:'.length)
  if (path === ':memory:')
    throw new UsageError(
      'sqlite::memory: exists only inside one process, so no other command can open it. Name a file.',
    )
  if (!existsSync(path))
    throw new Failure(
      `There is no event log at ${path}. Start hookonce dev in this folder, or name the log with ${flags}.`,
    )
}

interface StoreChoice {
  readonly store: Store | string
  readonly encryption?: EncryptionOptions
}

/** A configuration is a program, so `--store` runs none: the folder may not be one that the user trusts. */
async function chooseStore(url: string | undefined): Promise<StoreChoice> {
  if (url) {
    if (hasConfig())
      say(
        '--store is given, so hookonce.config is not used, and neither are its encryption keys. HOOKONCE_STORE changes only the store.',
      )
    return { store: url }
  }
  if (!hasConfig()) return { store: process.env.HOOKONCE_STORE || defaultStore }
  const { config } = await loadHere()
  const store = typeof config.store === 'function' ? config.store() : config.store
  return { store, ...(config.encryption ? { encryption: config.encryption as EncryptionOptions } : {}) }
}

async function loadHere(): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.js')
  if (process.stderr.isTTY) say('using hookonce.config of this folder')
  return loadConfig()
}

function say(text: string): void {
  writeTo(process.stderr, terminalText(`hookonce: ${text}\n`))
}

async function open({ store, encryption }: StoreChoice): Promise<Store> {
  const opened = typeof store === 'string' ? await openStore(store) : store
  if (!encryption) return opened
  const [{ encrypted }, { keyRing }] = await Promise.all([
    import('../encryption/encrypted.js'),
    import('../encryption/key-ring.js'),
  ])
  return encrypted(opened, keyRing(encryption))
}

/** Looks at file names only: loading the configuration would load the TypeScript runner. */
export function hasConfig(): boolean {
  return readdirSync('.').some((name) => /^hookonce\.config\.(ts|js|mjs)$/.test(name))
}

/** Closes the store of the configuration, which the caller does not use. */
export async function readConfig(): Promise<HookonceConfig> {
  const { config } = await loadHere()
  if (typeof config.store === 'object') await config.store.close()
  return config
}
