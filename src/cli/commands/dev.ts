/**
 * `hookonce dev` reloads its configuration when the file changes. Without a configuration it serves every provider of
 * the catalogue, with a secret that it creates for this folder.
 */
import type { Command } from 'commander'
import type { LoadedConfig } from '../../config/load.js'
import { sha256 } from '../../digest.js'
import { wholeInbox } from '../../inbox/internals.js'
import { createInbox, type Inbox } from '../../inbox.js'
import type { Logger } from '../../log.js'
import { defined } from '../../options.js'
import { createServer, type HookonceServer } from '../../server/server.js'
import { runUntilSignal } from '../../server/signals.js'
import { addCommand } from '../command.js'
import { ensureDriver } from '../dev/driver.js'
import { defaultStore, folder, makeCredentials, makeFolder, makeToken } from '../dev/folder.js'
import { openBrowser } from '../dev/open-browser.js'
import { addPrintingHandlers, printArrival, terminalLog, withArrivals } from '../dev/terminal.js'
import { firstSentence } from '../failure.js'
import { addressOptions, type OptionsOf, secretOption, text } from '../options.js'
import { type Output, storeTitle, surviveOutputErrors } from '../output.js'
import { devSources } from '../sources.js'
import { hasConfig } from '../store.js'

const options = {
  ...addressOptions,
  store: {
    ...text('<url>', 'sqlite:path or postgres://user@host/db (default sqlite:.hookonce/events.db)'),
    variable: 'HOOKONCE_STORE',
  },
  config: text('<file>', 'the configuration file (default: hookonce.config.ts, .js or .mjs, if it exists)'),
  ...secretOption(
    'the secret that signs test deliveries, stored in .hookonce/ (default: a new one)',
    'HOOKONCE_DEV_SECRET',
  ),
}
type DevOptions = OptionsOf<typeof options>

export function add(program: Command): void {
  addCommand(program, 'dev', {
    description:
      'Runs a development server on this machine. Every provider has an endpoint at /webhooks/<provider>, with a secret created for this folder.',
    examples: ['hookonce dev', 'hookonce dev --port 4200 --store postgres://localhost/shop'],
    options,
    run: ({ output, options }) => dev(output, options),
  })
}

interface Setup {
  readonly inbox: Inbox
  readonly store: string
  /** Null with a configuration: its sources have their own secrets. */
  readonly secret: string | null
  readonly config: LoadedConfig | null
}

async function dev(output: Output, options: DevOptions): Promise<number> {
  const log = terminalLog(output)
  const configured = options.config !== undefined || hasConfig()
  if (!configured && (options.store ?? defaultStore).startsWith('sqlite:')) await ensureDriver(output)
  const setup = configured ? await fromConfig(options, log) : fromCatalogue(output, options, log)
  const reporting = (inbox: Inbox) =>
    withArrivals(wholeInbox(inbox), (arrival) => printArrival(output, arrival))
  const { host, port } = {
    ...setup.config?.config.server,
    ...defined({ host: options.host, port: options.port }),
  }
  const { token, isNew } = makeToken()
  const server = createServer(reporting(setup.inbox), {
    ...defined({ host, port }),
    lameDuck: 0, // no load balancer here
    admin: {
      tokens: [
        { name: 'dev', role: 'admin', sha256: Buffer.from(sha256(Buffer.from(token))).toString('hex') },
      ],
    },
  })
  const { url } = await server.listen()
  await setup.inbox.start().catch(async (error) => {
    await server.close({ deadline: 0 })
    throw error
  })
  surviveOutputErrors()
  const link = signInLink(url, token)
  // The caller may send a signal as soon as it reads that the server is ready.
  const ended = runUntilSignal(
    { server },
    { onStop: () => output.say('stopping: finishing accepted requests') },
  )
  ready(output, url, link, setup)
  // Once for a folder: a new tab at every restart would be a nuisance.
  if (isNew && !output.json) openBrowser(link)
  const inboxOf = async (config: LoadedConfig) => reporting(await configuredInbox(config, options, log))
  const watch = setup.config && (await reloadOnChange(output, server, setup.config, inboxOf))
  const code = await ended
  watch?.close()
  return code
}

function fromCatalogue(output: Output, options: DevOptions, log: Logger): Setup {
  const { store = defaultStore } = options
  const credentials = makeCredentials(options.secretFile)
  const inbox = createInbox({ store, sources: devSources(credentials), log })
  addPrintingHandlers(output, inbox)
  return { inbox, store, secret: credentials.secret, config: null }
}

async function fromConfig(options: DevOptions, log: Logger): Promise<Setup> {
  const { loadConfig } = await import('../../config/load.js')
  const config = await loadConfig(defined({ path: options.config }))
  makeFolder()
  const inbox = await configuredInbox(config, options, log)
  return { inbox, store: (await wholeInbox(inbox).store()).name, secret: null, config }
}

async function configuredInbox(config: LoadedConfig, { store }: DevOptions, log: Logger): Promise<Inbox> {
  const { inboxFromConfig } = await import('../../config/build.js')
  return inboxFromConfig(config, { log, ...defined({ store }) })
}

async function reloadOnChange(
  output: Output,
  server: HookonceServer,
  config: LoadedConfig,
  inboxOf: (config: LoadedConfig) => Promise<Inbox>,
) {
  const { watchConfig } = await import('../../config/watch.js')
  const { swapInbox } = await import('../../config/build.js')
  return watchConfig(config, {
    async onChange(next) {
      await swapInbox(server, await inboxOf(next))
      output.say('the changed configuration is in use')
    },
    onProblem(error) {
      output.say(`the new configuration is invalid, the old one stays in use: ${firstSentence(error)}`)
    },
  })
}

/** A browser does not send the fragment, so no proxy or log sees the token. */
function signInLink(address: string, token: string): string {
  return `${address.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1')}/#token=${token}`
}

function ready(output: Output, address: string, link: string, { inbox, store, secret, config }: Setup): void {
  const names = [...wholeInbox(inbox).sources.keys()]
  const facts = {
    kind: 'ready',
    store,
    intake: `${address}/webhooks/<${config ? 'source' : 'provider'}>`,
    dashboard: link,
    secret,
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
  store      ${storeTitle(store)}
  intake     ${facts.intake}   (${which})
  dashboard  ${paint('cyan', link)}
  ${secret ? `secret     ${secret}   (kept in ${folder}/secret)` : `config     ${config?.path}`}
  try        ${paint('bold', `hookonce send ${first} --times 5 --concurrency 5${elsewhere}`)}
`,
  )
}
