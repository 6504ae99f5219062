import { codeOf, isHookonceError } from '../errors.js'
import { runOrDrop, takeKey } from '../once.js'
import { need, type Store } from '../store.js'
import { type RetainDeps, retain } from './retain.js'

export interface RetentionSchedule {
  /** Waits for the batch of a run in progress. */
  stop(): Promise<void>
}

const HOUR_MS = 3_600_000
/** Soon after the start: a process may be restarted every day. */
const FIRST_MS = 5 * 60_000
/** No process starts another run for this long. */
const DONE_FOR_MS = 20 * HOUR_MS
const KEY = 'hookonce:retention:daily'

/** `deps` is called for each run, because the store may not be available at the start. */
export function startSchedule(
  deps: () => Promise<RetainDeps>,
  { log, counters }: Pick<RetainDeps, 'log' | 'counters'>,
  firstMs = FIRST_MS,
): RetentionSchedule {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  /** 0.5 to 1.5 times `ms`: processes that start together do not run together. */
  function after(ms: number): void {
    if (abort.signal.aborted) return
    timer = setTimeout(
      () => {
        running = runOnce()
      },
      ms * (0.5 + Math.random()),
    )
    timer.unref()
  }

  async function runOnce(): Promise<void> {
    try {
      const ready = await deps()
      const run = () => retain(ready, { signal: abort.signal })
      if (await once(ready.store, run)) counters.retention.runs++
    } catch (error) {
      if (abort.signal.aborted) return
      const problem = isHookonceError(error) ? error.message : 'unexpected'
      counters.retention.failures++
      log.error(
        { step: 'retain', code: codeOf(error), problem },
        'retention did not finish; trying again within two hours',
      )
    }
    after(HOUR_MS)
  }

  after(firstMs)
  return {
    async stop() {
      abort.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** False when another process has run retention today, or runs it now. */
async function once(store: Store, work: () => Promise<{ readonly busy: boolean }>): Promise<boolean> {
  const taken = await takeKey(need(store, 'keys', 'removing expired rows'), KEY, 2 * HOUR_MS)
  if (taken.state !== 'leased') return false
  const { busy } = await runOrDrop(taken.lease, work)
  if (busy) await taken.lease.drop()
  else await taken.lease.finish('done', DONE_FOR_MS)
  return !busy
}
