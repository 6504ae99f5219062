/** The store a command is about: as it is told, as the environment says, as the configuration says, or that of this folder. */
import { existsSync, readdirSync } from 'node:fs'
import { openStore } from '../open-store.js'
import type { Store } from '../store.js'
import { defaultStore } from './dev/folder.js'
import { Failure, UsageError } from './failure.js'

/** A store that may not be there yet. */
export async function openAnyStore(given: string | undefined): Promise<Store> {
  const found = await storeOf(given)
  return typeof found === 'string' ? openStore(found) : found
}

/** A store that is there: reading must not make an empty one. */
export async function openExistingStore(given: string | undefined): Promise<Store> {
  const found = await storeOf(given)
  if (typeof found !== 'string') return found
  const path = found.startsWith('sqlite:') ? found.slice('sqlite:'.length) : null
  if (path === ':memory:')
    throw new UsageError('sqlite::memory: lives and dies with one process. Name a file.')
  if (path !== null && !existsSync(path))
    throw new Failure(
      `There is no log at ${path}. Start hookonce dev in this folder, or say where the log is with --store or --server.`,
    )
  return openStore(found)
}

async function storeOf(given: string | undefined): Promise<Store | string> {
  const named = given ?? process.env.HOOKONCE_STORE
  if (named) return named
  if (!hasConfig()) return defaultStore
  const { loadConfig } = await import('../config/load.js')
  const { store } = (await loadConfig()).config
  return typeof store === 'function' ? store() : store
}

/** Asked by name only: the loader and its TypeScript runner are not needed to know. */
export function hasConfig(): boolean {
  return readdirSync('.').some((name) => /^hookonce\.config\.(ts|js|mjs)$/.test(name))
}
