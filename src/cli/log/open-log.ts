/** Which log a command is about: a server's, or a store on this machine. */
import { UsageError } from '../failure.js'
import { openExistingStore } from '../store.js'
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
