/** Subscribers on the event loop, and the watch on the reader thread, which runs while there is a subscriber. */
import type { Connection } from './connection.js'

export function subscribers(watch: (on: boolean) => Promise<void>) {
  const wakes = new Set<{ readonly wake: () => void }>()

  return {
    async add(wake: () => void): Promise<() => Promise<void>> {
      // Each subscription has its own entry, because the same function may subscribe twice.
      const entry = { wake }
      wakes.add(entry)
      try {
        await watch(true)
      } catch (error) {
        wakes.delete(entry)
        throw error
      }
      return async () => {
        if (wakes.delete(entry) && wakes.size === 0) await watch(false)
      }
    },
    wakeAll(): void {
      for (const { wake } of wakes) wake()
    },
    clear: () => wakes.clear(),
  }
}

const POLL_MS = 25

export interface WatchOptions {
  readonly connection: () => Connection
  readonly notify: () => void
  /** Passes the work of a timer through the exit gate, like a call. */
  readonly guard: (run: () => void) => void
}

/** `data_version` changes with each commit of another connection; a poll costs microseconds and takes no lock. */
const commits = 'pragma data_version'
// Most commits are claims and settlements, which need no notification.
const newest = `
  select (select seq from sqlite_sequence where name = 'hookonce_events') as event,
    (select max(id) from hookonce_audit) as audited`

export function watchLog({ connection, notify, guard }: WatchOptions) {
  let timer: NodeJS.Timeout | undefined
  let seenCommit: unknown
  let seenNewest = ''

  function hasNews(): boolean {
    const { prepare } = connection()
    const commit = prepare(commits).get()?.data_version
    if (commit === seenCommit) return false
    seenCommit = commit
    const before = seenNewest
    seenNewest = JSON.stringify(prepare(newest).get())
    return seenNewest !== before
  }

  function poll(): void {
    try {
      if (hasNews()) notify()
    } catch {}
  }

  return {
    start(): void {
      if (timer !== undefined) return
      hasNews()
      timer = setInterval(() => guard(poll), POLL_MS)
      timer.unref()
    },
    stop(): void {
      clearInterval(timer)
      timer = undefined
    },
  }
}
