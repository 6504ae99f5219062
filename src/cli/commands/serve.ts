import type { Command } from 'commander'
import { timeLimited } from '../../clock.js'
import { inboxFromConfig } from '../../config/build.js'
import { type LoadedConfig, loadConfig } from '../../config/load.js'
import { type WholeInbox, wholeInbox } from '../../inbox/internals.js'
import { defined } from '../../options.js'
import { logRejections } from '../../processing/floating-promises.js'
import { createServer } from '../../server/server.js'
import { runUntilSignal } from '../../server/signals.js'
import { addCommand } from '../command.js'
import { Failure } from '../failure.js'
import { addressOptions, count, flag, type OptionsOf, parsed, text } from '../options.js'
import { type Output, storeTitle, surviveOutputErrors } from '../output.js'
import { hasConfig } from '../store.js'

const configOptions = {
  config: text('<file>', 'the configuration (default: hookonce.config.ts, .js or .mjs)'),
}
const serveOptions = {
  ...configOptions,
  ...addressOptions,
  receiveOnly: flag('run no handlers in this process; start hookonce worker for them'),
}
const workerOptions = {
  ...configOptions,
  concurrency: parsed('<n>', 'how many attempts run at once', count),
}
type WorkerOptions = OptionsOf<typeof workerOptions>

export function add(program: Command, name: string): void {
  if (name === 'serve')
    addCommand(program, 'serve', {
      description:
        'Receives webhooks, runs their handlers and serves the admin API, as configured in hookonce.config.ts, until SIGTERM.',
      examples: [
        'hookonce serve',
        'hookonce serve --config hooks/hookonce.config.ts --port 8080',
        'hookonce serve --receive-only',
      ],
      options: serveOptions,
      run: ({ output, options }) => serve(output, options),
    })
  else
    addCommand(program, 'worker', {
      description:
        'Runs the handlers of hookonce.config.ts on the events in the log, until SIGTERM. Start as many workers as you need.',
      examples: ['hookonce worker', 'hookonce worker --concurrency 32'],
      options: workerOptions,
      run: ({ output, options }) => worker(output, options),
    })
}

async function serve(output: Output, options: OptionsOf<typeof serveOptions>): Promise<number> {
  const loaded = await configuration(options.config)
  surviveOutputErrors()
  const { host, port, receiveOnly } = options
  const inbox = wholeInbox(await inboxFromConfig(loaded, receiveOnly ? { processing: false } : {}))
  logRejections(inbox.log)
  const server = createServer(inbox, {
    ...loaded.config.server,
    ...defined({ host, port }),
  })
  // The store comes first: a server that cannot record should not listen.
  await inbox.start()
  const { url } = await server.listen().catch(async (error) => {
    await inbox.stop({ deadline: 0 })
    throw error
  })
  // The caller may send a signal as soon as it reads that the server is ready.
  const ended = runUntilSignal(
    { server, ...defined({ drain: loaded.config.server?.drain }) },
    { onStop: (signal) => output.say(`stopping (${signal}): finishing accepted requests`) },
  )
  const name = await storeName(inbox)
  const sources = [...inbox.sources.keys()]
  output.result({ kind: 'ready', url, store: name, sources, handles: !receiveOnly }, () => '')
  if (!output.json)
    output.say(
      `hookonce serves ${url}; store: ${name === null ? STORE_DOWN : storeTitle(name)}; sources: ${sources.join(', ')}`,
    )
  return ended
}

async function worker(output: Output, options: WorkerOptions): Promise<number> {
  const loaded = await configuration(options.config)
  if (loaded.config.handlers === undefined && loaded.config.destinations === undefined)
    throw new Failure(
      `${loaded.path} has neither handlers nor destinations, so a worker has no work. Add handlers(inbox) { ... }.`,
    )
  surviveOutputErrors()
  // A server that only receives may have processing: false in the same file; a worker always handles.
  const processing = { ...(loaded.config.processing || {}), ...defined({ concurrency: options.concurrency }) }
  const inbox = wholeInbox(await inboxFromConfig(loaded, { processing }))
  logRejections(inbox.log)
  await inbox.start()
  const ended = runUntilSignal(
    { inbox },
    { onStop: (signal) => output.say(`stopping (${signal}): finishing running attempts`) },
  )
  const name = await storeName(inbox)
  output.result({ kind: 'ready', store: name, sources: [...inbox.sources.keys()] }, () => '')
  if (!output.json)
    output.say(`hookonce worker runs; store: ${name === null ? STORE_DOWN : storeTitle(name)}`)
  return ended
}

const STORE_DOWN = 'not reachable now, deliveries go to the spool'

/** Null when the store is down: an inbox with a spool can start without it. */
async function storeName(inbox: WholeInbox): Promise<string | null> {
  try {
    const store = await timeLimited(inbox.store(), 250, () => new Error('late'))
    return store.name
  } catch (error) {
    if (inbox.spool === null) throw error
    return null
  }
}

async function configuration(path: string | undefined): Promise<LoadedConfig> {
  if (path !== undefined || hasConfig()) return loadConfig(defined({ path }))
  throw new Failure(
    'There is no hookonce.config.ts in this folder. Create one (docs/reference/options.md), or give its path with --config. hookonce dev needs no configuration.',
  )
}
