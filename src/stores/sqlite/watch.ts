/**
 * Watches the log for what others record, as the reader thread does it: a look every few milliseconds at a number that
 * SQLite changes with each commit of another connection. It costs microseconds and no lock.
 */
import type { Connection } from './connection.js'

const LOOK_EVERY_MS = 25

export interface Watch {
  start(): void
  stop(): void
}

export interface WatchOptions {
  readonly connection: () => Connection
  /** Called when there are new events or new orders of an operator. */
  readonly tell: () => void
  /** Runs what a timer starts as calls are run. */
  readonly guard: (run: () => void) => void
}

const commits = 'pragma data_version'
// Most commits are claims and settlements, and many are this process's own: no reason to wake anybody.
const newest = `
  select (select seq from sqlite_sequence where name = 'hookonce_events') as event,
    (select max(id) from hookonce_audit) as audited`

export function watchLog({ connection, tell, guard }: WatchOptions): Watch {
  let timer: NodeJS.Timeout | undefined
  let seenCommit: unknown
  let seenNewest = ''

  /** True when there is something newer than at the last look. */
  function look(): boolean {
    const { prepare } = connection()
    const commit = prepare(commits).get()?.data_version
    if (commit === seenCommit) return false
    seenCommit = commit
    const before = seenNewest
    seenNewest = JSON.stringify(prepare(newest).get())
    return seenNewest !== before
  }

  function lookAgain(): void {
    try {
      if (look()) tell()
    } catch {
      // A file that cannot be read now is looked at again; who needs it will be told by their own call.
    }
  }

  return {
    start() {
      if (timer !== undefined) return
      look()
      timer = setInterval(() => guard(lookAgain), LOOK_EVERY_MS)
      timer.unref()
    },
    stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
