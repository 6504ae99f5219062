/**
 * Warns when two inboxes of one process use the same log, which happens when a bundler loads the module of the inbox twice
 * (Next.js does, for routes and `instrumentation`). The log stays right, but each has its own pauses and figures.
 */
import type { Logger } from '../log.js'
import type { Store } from '../store.js'

/** An inbox that replaces another one opens the log before the other is stopped. */
const AFTER_MS = 1_000

interface OpenInbox {
  readonly log: string
  readonly isStopped: () => boolean
}

const KEY = Symbol.for('hookonce.inboxes')
const shared = globalThis as { [KEY]?: Set<OpenInbox> }
shared[KEY] ??= new Set()
const open = shared[KEY]

/** Call it when the store is open. */
export function warnOfSecondInbox(store: Store, isStopped: () => boolean, logger: Logger): void {
  setTimeout(() => void look(store, isStopped, logger).catch(() => {}), AFTER_MS).unref()
}

async function look(store: Store, isStopped: () => boolean, logger: Logger): Promise<void> {
  if (isStopped()) return
  const log = await logOf(store)
  if (log === null) return
  for (const other of open) if (other.isStopped()) open.delete(other)
  const isSecond = [...open].some((other) => other.log === log)
  open.add({ log, isStopped })
  if (isSecond)
    logger.warn(
      { store: store.name },
      'another inbox in this process uses the same log: pausing one does not pause the other, and each counts only its own events. Create one inbox and import it everywhere; in Next.js, make it with nextInbox() of hookonce/next',
    )
}

/** Null: only this inbox can use the log, or the store cannot tell. */
async function logOf({ name, singleWriter, keys }: Store): Promise<string | null> {
  if (singleWriter) return name.endsWith(':memory:') ? null : name
  return (await keys?.place?.()) ?? null
}
