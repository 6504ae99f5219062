import { HookonceError } from '../errors.js'
import { addDestinations } from '../forward/destinations.js'
import { wholeInbox } from '../inbox/internals.js'
import { createInbox, type Inbox, type InboxOptions } from '../inbox.js'
import type { HookonceServer } from '../server/server.js'
import { withAlerts } from '../telemetry/alerts.js'
import { unsetVariables } from './define.js'
import type { LoadedConfig } from './load.js'

/** A reload does not log a warning again. */
const warned = new Set<string>()

/** Does not start the inbox, whose `stop` closes the store, even one that the file has made. `overrides` come first. */
export async function inboxFromConfig(
  { config, warnings }: Pick<LoadedConfig, 'config' | 'warnings'>,
  overrides: Partial<Omit<InboxOptions, 'sources'>> = {},
): Promise<Inbox> {
  const { store, handlers, destinations, alerts, server: _server, log, ...options } = config
  const { sources: _sources, ...lazy } = config
  insistOnVariables({ ...lazy, ...overrides })
  const inbox = createInbox({
    ...options,
    store: typeof store === 'function' ? store() : store,
    ...(log === undefined ? {} : { log }),
    ...overrides,
  })
  for (const warning of warnings) {
    if (warned.has(warning)) continue
    warned.add(warning)
    wholeInbox(inbox).log.warn({ step: 'configuration' }, warning)
  }
  await handlers?.(inbox)
  if (destinations) addDestinations(inbox, destinations)
  return alerts ? withAlerts(inbox, alerts) : inbox
}

/** One error names all variables: a start for each of them would be tedious. */
function insistOnVariables(read: unknown): void {
  const [name, ...others] = unsetVariables(read)
  if (name === undefined) return
  const more = others.length === 0 ? '' : ` Also not set: ${others.join(', ')}.`
  throw new HookonceError('ENV_MISSING', { name, use: `read by env("${name}")`, more })
}

/**
 * Stops the inbox before when its last request is answered and its handlers have ended. When the next one cannot start,
 * it throws and nothing has changed.
 */
export async function swapInbox(server: HookonceServer, next: Inbox): Promise<void> {
  try {
    await next.start()
  } catch (error) {
    await next.stop({ deadline: 0 }).catch(() => {})
    throw error
  }
  const before = await server.swap(next)
  await before.stop()
}
