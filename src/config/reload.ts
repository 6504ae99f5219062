/** Another configuration for a server that runs: no delivery is refused in between. */
import type { Inbox, InboxOptions } from '../inbox.js'
import type { HookonceServer } from '../server/server.js'
import { inboxFromConfig } from './build.js'
import type { LoadedConfig } from './load.js'

/**
 * Starts a new inbox on the same log, gives it to the server, and stops the one before when its last request is
 * answered and its handlers have ended. Throws before anything has changed when the new one cannot start. What is under
 * `server` is read once, when the process starts.
 */
export async function reloadInbox(
  server: HookonceServer,
  loaded: LoadedConfig,
  overrides?: Partial<Omit<InboxOptions, 'sources'>>,
): Promise<Inbox> {
  const next = await inboxFromConfig(loaded, overrides)
  try {
    await next.start()
  } catch (error) {
    await next.stop({ deadlineMs: 0 }).catch(() => {})
    throw error
  }
  const before = await server.swap(next)
  await before.stop()
  return next
}
