/** Retention once a day, wherever it is quiet first: of many processes, one. */
import { codeOf, isHookonceError } from '../errors.js'
import { runOrDrop, takeKey } from '../once.js'
import { need, type Store } from '../store.js'
import { type RetainDeps, retain } from './retain.js'

export interface RetentionSchedule {
  /** Resolves when a run under way has ended at the next portion. */
  stop(): Promise<void>
}

const HOUR_MS = 3_600_000
/** The first look comes soon after the start, so that a process which is restarted every day gets to it. */
const FIRST_MS = 5 * 60_000
/** When another process has done it so long ago, it is not done again. */
const DONE_FOR_MS = 20 * HOUR_MS
const KEY = 'hookonce:retention:daily'

/** The store is asked for when it is time: it may not be there yet. */
export function startSchedule(
  deps: () => Promise<RetainDeps>,
  { log, counters }: Pick<RetainDeps, 'log' | 'counters'>,
  firstMs = FIRST_MS,
): RetentionSchedule {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  /** Between half and one and a half times: processes that start together must not come together. */
  function after(ms: number): void {
    if (abort.signal.aborted) return
    timer = setTimeout(
      () => {
        running = look()
      },
      ms * (0.5 + Math.random()),
    )
    timer.unref()
  }

  async function look(): Promise<void> {
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

/** False: another process has done it today, or is doing it now. */
async function once(store: Store, work: () => Promise<{ readonly busy: boolean }>): Promise<boolean> {
  const taken = await takeKey(need(store, 'keys', 'removing expired rows'), KEY, 2 * HOUR_MS)
  if (taken.state !== 'leased') return false
  const { busy } = await runOrDrop(taken.lease, work)
  if (busy) await taken.lease.drop()
  else await taken.lease.finish('done', DONE_FOR_MS)
  return !busy
}
