/**
 * `hookonce dev`: a server on this machine. With a configuration it runs that and follows its changes; without one it
 * takes every provider of the catalogue, with secrets made on first use and kept for this folder.
 */
import type { LoadedConfig } from '../../config/load.js'
import { type HookonceError, isHookonceError } from '../../errors.js'
import { createInbox, type Inbox } from '../../inbox.js'
import type { Logger } from '../../log.js'
import { createServer, type HookonceServer } from '../../server/server.js'
import { runUntilSignal } from '../../server/signals.js'
import { Failure, textOf, UsageError } from '../failure.js'
import { type Output, storeWords } from '../output.js'
import { hasConfig } from '../store.js'
import { outliveOutput } from '../streams.js'
import { sayHandled, tellArrival, withArrivals } from './arrivals.js'
import { defaultStore, folder, makeCredentials, makeFolder } from './folder.js'
import { type ForwardTarget, forwardTo } from './forward.js'
import { devSources } from './sources.js'
import { wordsLog } from './words-log.js'

export interface DevOptions {
  readonly port?: number
  readonly host?: string
  readonly store?: string
  readonly secret?: string
  readonly config?: string
  readonly forward?: string
}

/** What is served, and what to tell about it. */
interface Stage {
  readonly inbox: Inbox
  readonly store: string
  /** What signs what is forwarded; null when nothing is. */
  readonly forward: ForwardTarget | null
  /** Null with a configuration: its secrets are its own. */
  readonly secret: string | null
  readonly config: LoadedConfig | null
}

export async function dev(output: Output, options: DevOptions): Promise<number> {
  const log = wordsLog(output)
  const configured = options.config !== undefined || hasConfig()
  const stage = configured ? await fromConfig(options, log) : fromCatalogue(output, options, log)
  const tell = (inbox: Inbox) => withArrivals(inbox, (arrival) => tellArrival(output, arrival))
  const { host, port } = {
    ...stage.config?.config.server,
    ...given({ host: options.host, port: options.port }),
  }
  const server = createServer(tell(stage.inbox), { ...given({ host, port }), open: true })
  const { url } = await server.listen().catch((error) => {
    throw isHookonceError(error, 'LISTEN_FAILED') ? portTaken(error) : error
  })
  await stage.inbox.start().catch(async (error) => {
    await server.close({ deadlineMs: 0 })
    throw error
  })
  outliveOutput()
  ready(output, url, stage)
  const watch = stage.config?.path ? await follow(output, server, stage.config, tell, options, log) : null
  const code = await runUntilSignal(
    { server },
    { onStop: () => output.say('stopping: finishing accepted requests') },
  )
  watch?.close()
  return code
}

/** In the words of this command: there may be no configuration to change. */
function portTaken({ details: { host, port, problem } }: HookonceError): Failure {
  return new Failure(
    `Cannot listen on ${host}, port ${port}: ${problem}. Choose another with --port, or --port 0 for any free one.`,
  )
}

function fromCatalogue(output: Output, options: DevOptions, log: Logger): Stage {
  const { store = defaultStore } = options
  const credentials = makeCredentials(options.secret)
  const inbox = createInbox({ store, sources: devSources(credentials), log })
  const forward = options.forward === undefined ? null : forwardTo(inbox, options.forward, credentials.secret)
  if (forward === null) sayHandled(output, inbox)
  return { inbox, store, forward, secret: credentials.secret, config: null }
}

async function fromConfig(options: DevOptions, log: Logger): Promise<Stage> {
  if (options.forward !== undefined)
    throw new UsageError(
      '--forward works only without a configuration. In a configuration use the key destinations.',
    )
  const { loadConfig } = await import('../../config/load.js')
  const config = await loadConfig(given({ path: options.config }))
  makeFolder()
  const inbox = await configuredInbox(config, options, log)
  return { inbox, store: (await inbox.store()).name, forward: null, secret: null, config }
}

async function configuredInbox(config: LoadedConfig, { store }: DevOptions, log: Logger): Promise<Inbox> {
  const { inboxFromConfig } = await import('../../config/build.js')
  return inboxFromConfig(config, { log, ...given({ store }) })
}

async function follow(
  output: Output,
  server: HookonceServer,
  config: LoadedConfig,
  tell: (inbox: Inbox) => Inbox,
  options: DevOptions,
  log: Logger,
) {
  const { watchConfig } = await import('../../config/watch.js')
  return watchConfig(config as LoadedConfig & { path: string }, {
    async onChange(next) {
      const inbox = await configuredInbox(next, options, log)
      await inbox.start().catch(async (error) => {
        await inbox.stop({ deadlineMs: 0 })
        throw error
      })
      const before = await server.swap(tell(inbox))
      await before.stop()
      output.say('the changed configuration is in use')
    },
    onProblem(error) {
      output.say(`the new configuration is invalid, the old one stays in use: ${textOf(error)}`)
    },
  })
}

function ready(output: Output, address: string, { inbox, store, secret, config, forward }: Stage): void {
  const names = [...inbox.sources.keys()]
  const facts = {
    kind: 'ready',
    store,
    intake: `${address}/webhooks/<${config ? 'source' : 'provider'}>`,
    dashboard: `${address}/`,
    secret,
    forward,
    sources: names.length,
    config: config?.path ?? null,
  }
  if (output.json) {
    output.result(facts, () => '')
    return
  }
  const which = config ? names.join(', ') : `${names.length} providers: hookonce providers`
  const first = names.includes('stripe') ? 'stripe' : names[0]
  const elsewhere = new URL(address).port === '4100' ? '' : ` --to ${address}`
  output.say(
    (paint) => `${paint('bold', 'hookonce is ready')}
  store      ${storeWords(store)}
  intake     ${facts.intake}   (${which})
  admin      ${paint('cyan', `${address}/`)}
  ${secret ? `secret     ${secret}   (kept in ${folder}/secret)` : `config     ${config?.path}`}
${forward ? `  forward    ${forward.url}   (signed with ${forward.secret}, as on standardwebhooks.com)\n` : ''}  try        ${paint('bold', `hookonce send ${first} --times 5 --concurrency 5${elsewhere}`)}
`,
  )
}

/** Without what is undefined: an option that was not given must not hide one that was. */
function given<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
