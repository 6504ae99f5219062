/** `hookonce serve` and `hookonce worker`: what runs in production, from a configuration file. */
import { timeLimited } from '../clock.js'
import { inboxFromConfig } from '../config/build.js'
import { type LoadedConfig, loadConfig } from '../config/load.js'
import type { Inbox, InboxOptions } from '../inbox.js'
import { jsonLog } from '../log.js'
import { logRejections } from '../processing/floating-promises.js'
import { runProcesses } from '../server/processes.js'
import { createServer } from '../server/server.js'
import { runUntilSignal } from '../server/signals.js'
import { Failure } from './failure.js'
import { type Output, storeWords } from './output.js'
import { outliveOutput } from './streams.js'

export interface ServeOptions {
  readonly config?: string
  readonly store?: string
  readonly host?: string
  readonly port?: number
  readonly receiveOnly?: boolean
}

/** Receives, handles (unless told not to) and serves the admin API until it is told to stop, in one process or several. */
export async function serve(output: Output, options: ServeOptions): Promise<number> {
  const loaded = await configuration(options.config)
  const { processes = 1, drainMs = 8_000 } = loaded.config.server ?? {}
  const log = typeof loaded.config.log === 'object' ? loaded.config.log : jsonLog(loaded.config.log)
  outliveOutput()
  const parent = { processes, log, drainMs: drainMs + 2_000 }
  return runProcesses(parent, () => serveHere(output, options, loaded))
}

async function serveHere(output: Output, options: ServeOptions, loaded: LoadedConfig): Promise<number> {
  const { store, host, port } = options
  const inbox = await inboxFromConfig(loaded, {
    ...(store === undefined ? {} : { store }),
    ...(options.receiveOnly ? { processing: false as const } : {}),
  })
  logRejections(inbox.log)
  const server = createServer(inbox, {
    ...loaded.config.server,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
  })
  // The store first: a server that cannot record anything should not take a port and look alive.
  await inbox.start()
  const { url } = await server.listen().catch(async (error) => {
    await inbox.stop({ deadlineMs: 0 })
    throw error
  })
  // Heard before anybody is told that it runs.
  const drainMs = loaded.config.server?.drainMs
  const ended = runUntilSignal(
    { server, ...(drainMs === undefined ? {} : { drainMs }) },
    { onStop: (signal) => output.say(`stopping (${signal}): finishing accepted requests`) },
  )
  const name = await storeName(inbox)
  const sources = [...inbox.sources.keys()]
  output.result({ kind: 'ready', url, store: name, sources, handles: !options.receiveOnly }, () => '')
  if (!output.json)
    output.say(
      `hookonce serves ${url}; store: ${name === null ? AWAY : storeWords(name)}; sources: ${sources.join(', ')}`,
    )
  return ended
}

export interface WorkerOptions {
  readonly config?: string
  readonly store?: string
  readonly concurrency?: number
}

/** Runs handlers only, until it is told to stop. */
export async function worker(output: Output, options: WorkerOptions): Promise<number> {
  const loaded = await configuration(options.config)
  if (loaded.config.handlers === undefined && loaded.config.destinations === undefined)
    throw new Failure(
      `${loaded.path} has neither handlers nor destinations, so a worker has no work. Add handlers(inbox) { ... }.`,
    )
  outliveOutput()
  const inbox = await inboxFromConfig(loaded, overrides(loaded, options))
  logRejections(inbox.log)
  await inbox.start()
  const ended = runUntilSignal(
    { inbox },
    { onStop: (signal) => output.say(`stopping (${signal}): finishing running attempts`) },
  )
  const name = await storeName(inbox)
  output.result({ kind: 'ready', store: name, sources: [...inbox.sources.keys()] }, () => '')
  if (!output.json) output.say(`hookonce worker runs; store: ${name === null ? AWAY : storeWords(name)}`)
  return ended
}

const AWAY = 'not reachable now, deliveries go to the spool'

/** Null: an inbox with a spool has started without its store. What has started has opened it, else. */
async function storeName(inbox: Inbox): Promise<string | null> {
  try {
    const store = await timeLimited(inbox.store(), 250, () => new Error('late'))
    return store.name
  } catch (error) {
    if (inbox.spool === null) throw error
    return null
  }
}

function overrides({ config }: LoadedConfig, { store, concurrency }: WorkerOptions): Partial<InboxOptions> {
  // A file whose server only receives says processing: false; a worker is there to handle.
  const processing = config.processing === false ? {} : (config.processing ?? {})
  return {
    ...(store === undefined ? {} : { store }),
    processing: concurrency === undefined ? processing : { ...processing, concurrency },
  }
}

async function configuration(path: string | undefined): Promise<LoadedConfig> {
  const loaded = await loadConfig(path === undefined ? {} : { path })
  if (loaded.path !== null) return loaded
  throw new Failure(
    'There is no hookonce.config.ts in this folder. Create one (docs/configuration.md), or give its path with --config. hookonce dev needs no configuration.',
  )
}
