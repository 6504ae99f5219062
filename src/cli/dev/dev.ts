/** `hookonce dev`: intake on this machine with no configuration. Secrets are made on first use and kept for this folder. */
import { createInbox, type Inbox } from '../../inbox.js'
import { createServer } from '../../server/server.js'
import { runUntilSignal } from '../../server/signals.js'
import type { Output } from '../output.js'
import { sayHandled, tellArrival, withArrivals } from './arrivals.js'
import { type DevCredentials, defaultStore, folder, makeCredentials } from './folder.js'
import { devSources } from './sources.js'
import { wordsLog } from './words-log.js'

export interface DevOptions {
  readonly port?: number
  readonly host?: string
  readonly store?: string
  readonly secret?: string
}

export async function dev(output: Output, options: DevOptions): Promise<number> {
  const { port = 4100, host = '127.0.0.1', store = defaultStore } = options
  const credentials = makeCredentials(options.secret)
  const inbox = createInbox({ store, sources: devSources(credentials), log: wordsLog(output) })
  sayHandled(output, inbox)
  const told = withArrivals(inbox, (arrival) => tellArrival(output, arrival))
  const server = createServer(told, { host, port, open: true })
  const { url } = await server.listen()
  await inbox.start()
  ready(output, url, store, inbox, credentials)
  return runUntilSignal({ server }, { onStop: () => output.say('stopping: finishing what was accepted') })
}

function ready(
  output: Output,
  address: string,
  store: string,
  inbox: Inbox,
  { secret }: DevCredentials,
): void {
  const facts = {
    kind: 'ready',
    store,
    intake: `${address}/webhooks/<provider>`,
    dashboard: `${address}/`,
    secret,
    sources: inbox.sources.size,
  }
  if (output.json) {
    output.result(facts, () => '')
    return
  }
  const [provider] = inbox.sources.has('stripe') ? ['stripe'] : inbox.sources.keys()
  const elsewhere = new URL(address).port === '4100' ? '' : ` --to ${address}`
  output.say(
    (paint) => `${paint('bold', 'hookonce is ready')}
  store      ${store}
  intake     ${facts.intake}   (${facts.sources} providers: hookonce providers)
  dashboard  ${paint('cyan', facts.dashboard)}
  secret     ${secret}   (kept in ${folder}/secret)
  try        ${paint('bold', `hookonce send ${provider} --times 5 --concurrency 5${elsewhere}`)}
`,
  )
}
