/** Makes an inbox from a configuration, and replaces the inbox of a running server. */
import { HookonceError } from '../errors.js'
import { addDestinations } from '../forward/destinations.js'
import { wholeInbox } from '../inbox/internals.js'
import { createInbox, type Inbox, type InboxOptions } from '../inbox.js'
import type { HookonceServer } from '../server/server.js'
import { withAlerts } from '../telemetry/alerts.js'
import { unsetVariables } from './define.js'
import type { LoadedConfig } from './load.js'

/** Warnings that this process has logged; a reload does not repeat them. */
const warned = new Set<string>()

/**
 * The inbox with its handlers registered, not started. Its `stop` closes the store, also one the file has made.
 * `overrides` has priority over the file: a process that only receives passes `{ processing: false }`.
 */
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

/** One error for all variables: a start for each of them would be tedious. */
function insistOnVariables(read: unknown): void {
  const [name, ...others] = unsetVariables(read)
  if (name === undefined) return
  const more = others.length === 0 ? '' : ` Also not set: ${others.join(', ')}.`
  throw new HookonceError('ENV_MISSING', { name, use: `read by env("${name}")`, more })
}

/**
 * Starts the next inbox on the same log, gives it to the server, and stops the one before when its last request is
 * answered and its handlers have ended. When the next one cannot start, it throws and nothing has changed.
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
