/** Subscribers on the event loop, and the watch on the reader thread, which runs while there is a subscriber. */
import type { News } from '../../store.js'
import type { Connection } from './connection.js'

export function subscribers(watch: (on: boolean) => Promise<void>) {
  const wakes = new Set<{ readonly wake: (news: News) => void }>()

  return {
    async add(wake: (news: News) => void): Promise<() => Promise<void>> {
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
    wakeAll(news: News): void {
      for (const { wake } of wakes) wake(news)
    },
    clear: () => wakes.clear(),
  }
}

const POLL_MS = 25

export interface WatchOptions {
  readonly connection: () => Connection
  readonly notify: (news: News) => void
  /** Passes the work of a timer through the exit gate, like a call. */
  readonly guard: (run: () => void) => void
}

/** `data_version` changes with each commit of another connection; a poll costs microseconds and takes no lock. */
const commits = 'pragma data_version'
// Most commits are claims and settlements, which need no notification.
const newest = `
  select (select seq from sqlite_sequence where name = 'hookonce_events') as event,
    (select max(id) from hookonce_audit) as audited`
// A pause that takes the place of another one in the same millisecond is found by polling.
const latestPause = 'select count(*) as count, max(at) as at from hookonce_pauses'

export function watchLog({ connection, notify, guard }: WatchOptions) {
  let timer: NodeJS.Timeout | undefined
  let seenCommit: unknown
  let seenNewest = ''
  let seenPauses = ''

  function news(): News | null {
    const { prepare } = connection()
    const commit = prepare(commits).get()?.data_version
    if (commit === seenCommit) return null
    seenCommit = commit
    const before = [seenNewest, seenPauses]
    seenNewest = JSON.stringify(prepare(newest).get())
    seenPauses = JSON.stringify(prepare(latestPause).get())
    if (seenPauses !== before[1]) return 'pauses'
    return seenNewest === before[0] ? null : 'events'
  }

  function poll(): void {
    try {
      const found = news()
      if (found) notify(found)
    } catch {}
  }

  return {
    start(): void {
      if (timer !== undefined) return
      news()
      timer = setInterval(() => guard(poll), POLL_MS)
      timer.unref()
    },
    stop(): void {
      clearInterval(timer)
      timer = undefined
    },
  }
}
