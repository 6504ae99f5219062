/** Which log a command is about: a server's, or a store on this machine. */
import { existsSync } from 'node:fs'
import { openStore } from '../../open-store.js'
import type { Store } from '../../store.js'
import { defaultStore } from '../dev/folder.js'
import { Failure, UsageError } from '../failure.js'
import { createApi } from './api.js'
import type { EventLog } from './event-log.js'
import type { LogOptions } from './options.js'
import { serverLog } from './server-log.js'
import { storeLog } from './store-log.js'

export async function openLog(options: LogOptions): Promise<EventLog> {
  if (options.store !== undefined && options.server !== undefined)
    throw new UsageError('--store and --server do not go together. Give the one that has the log.')
  const server = options.server ?? (options.store === undefined ? process.env.HOOKONCE_SERVER : undefined)
  if (server) return serverLog(createApi(server, options.token ?? process.env.HOOKONCE_TOKEN))
  return storeLog(await openExistingStore(options.store))
}

/** A store that is there: reading must not make an empty one. */
export async function openExistingStore(given: string | undefined): Promise<Store> {
  const url = given ?? process.env.HOOKONCE_STORE ?? defaultStore
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null
  if (path === ':memory:')
    throw new UsageError('sqlite::memory: lives and dies with one process. Name a file.')
  if (path !== null && !existsSync(path))
    throw new Failure(
      `There is no log at ${path}. Start hookonce dev in this folder, or say where the log is with --store or --server.`,
    )
  return openStore(url)
}
