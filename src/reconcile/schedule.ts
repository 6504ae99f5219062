/**
 * The schedule of a source: `reconcile: { every, window }`. Every process looks often and one of them runs, under the lease of
 * the source. A run begins an hour before the end of the last one, so that it costs the sender little. It never begins before
 * the first event of the log: earlier ones were handled by another program. A run whose process has died is continued.
 */
import { randomUUID } from 'node:crypto'
import { msOf } from '../duration.js'
import { codeOf, isHookonceError } from '../errors.js'
import type { ListRange, Source } from '../provider.js'
import { RUNS_KEPT } from '../store/reconciles.js'
import type { Store } from '../store.js'
import { type ReconcileDeps, reports, runOnce, takeSource } from './reconcile.js'
import type { ReconcileReport } from './report.js'
import { windowOf } from './window.js'

export interface ReconcileSchedule {
  /** Begins no other run. The present one ends after its page, and its next process continues it. */
  stop(): Promise<void>
}

export const DEFAULT_WINDOW = '2d'
const LOOK_MS = 60_000
/** The list of a sender may get an event late. */
const OVERLAP_MS = 60 * 60_000
const LOOKED_AT = 20

export function scheduled(source: Source): source is Source & Required<Pick<Source, 'list' | 'reconcile'>> {
  return source.reconcile !== undefined && source.list?.problem === null
}

/** One for each source that has a schedule. */
export function startSchedules(deps: ReconcileDeps): ReconcileSchedule {
  const running = [...deps.sources]
    .filter(([, source]) => scheduled(source))
    .map(([name]) => start(deps, name))
  return {
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
    },
  }
}

function start(deps: ReconcileDeps, name: string): ReconcileSchedule {
  const everyMs = msOf(deps.sources.get(name)!.reconcile!.every, 0)
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  /** 0.5 to 1.5 times as long: processes that start together do not look together. */
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
      await runIfDue(deps, name, abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) {
        const problem = isHookonceError(error) ? error.message : 'unexpected'
        deps.log.error(
          { source: name, step: 'reconcile', code: codeOf(error), problem },
          'the comparison with the sender did not finish; the next one continues',
        )
      }
    }
    after(Math.min(everyMs / 2, LOOK_MS))
  }

  after(Math.min(everyMs / 2, LOOK_MS / 6))
  return {
    async stop() {
      abort.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Null when no run is due, or another process runs it. */
export async function runIfDue(
  deps: ReconcileDeps,
  name: string,
  signal: AbortSignal,
): Promise<ReconcileReport | null> {
  const store = await deps.store()
  if ((await planOf(deps, store, name)) === null) return null
  const lease = await takeSource(store, name)
  if (lease === null) return null
  // Another process may have finished a run since.
  const plan = await planOf(deps, store, name).catch(async (error) => {
    await lease.drop()
    throw error
  })
  if (plan === null) {
    await lease.drop()
    return null
  }
  const { range, notBefore, resume, now } = plan
  const { id = randomUUID(), startedAt = now } = resume ?? {}
  const report = await runOnce(deps, store, name, lease, {
    ...{ id, by: 'schedule', range, dryRun: false, startedAt, notBefore, signal, resume },
  })
  logResult(deps, report)
  return report
}

interface Plan {
  readonly range: ListRange
  readonly notBefore: number | null
  readonly now: number
  readonly resume?: ReconcileReport
}

/** Null when no run is due, or nothing is old enough to be compared. */
async function planOf({ sources, policy }: ReconcileDeps, store: Store, name: string): Promise<Plan | null> {
  const { list, reconcile } = sources.get(name)!
  const { every, window } = reconcile!
  const runs = await scheduledRuns(store, name)
  const [last] = runs
  const now = await store.ping()
  const windowMs = msOf(window, DEFAULT_WINDOW)
  if (last?.state === 'running' && last.until > now - windowMs) {
    const { since, until, notBefore } = last
    return { range: { since, until }, notBefore, now, resume: last }
  }
  if (last && now - last.startedAt < msOf(every, 0)) return null
  const notBefore = last ? last.notBefore : await firstAt(store, name)
  if (notBefore === null) return null
  const since = Math.max(beginOf(runs, now - windowMs) - OVERLAP_MS, notBefore)
  if (since >= now) return null
  const range = windowOf({ since: new Date(since) }, { now, eventsMs: policy.get(name)!.events, list: list! })
  return range && { range, notBefore, now }
}

/** By requests of people there may be others between them. */
async function scheduledRuns(store: Store, source: string): Promise<ReconcileReport[]> {
  for (const limit of [LOOKED_AT, RUNS_KEPT]) {
    const runs = (await reports(store, { source, limit })).filter(({ by }) => by === 'schedule')
    if (runs.length > 0) return runs
  }
  return []
}

/**
 * Where the last runs ended, however long ago: a window after an outage has no gap. An event that is still missing is looked
 * for again as long as it is in the window.
 */
function beginOf(runs: readonly ReconcileReport[], windowAt: number): number {
  const last = runs.find(({ since, comparedUntil }) => comparedUntil > since)
  if (last === undefined) return windowAt + OVERLAP_MS
  const compared = Math.max(...runs.map(({ comparedUntil }) => comparedUntil))
  const lacks = last.completeUntil < last.comparedUntil
  return lacks ? Math.max(last.completeUntil, Math.min(compared, windowAt)) : compared
}

/** When the oldest event of the source came that the log still has. */
async function firstAt(store: Store, source: string): Promise<number | null> {
  for (let after = 0; ; ) {
    const page = await store.tail({ after, limit: 1, source })
    if (page.events.length > 0) return page.events[0]!.receivedAt
    if (page.position === after) return null
    after = page.position
  }
}

function logResult({ log }: ReconcileDeps, report: ReconcileReport): void {
  const { source, listed, missing, recovered, extra, waiting, disabled } = report
  const found = { source, step: 'reconcile', listed, missing, recovered, extra, waiting }
  if (disabled)
    log.error(found, 'the sender has switched this endpoint off; switch it on again at the sender')
  if (missing > recovered) log.error(found, 'the sender lists events that are not in the log')
  else if (missing > 0) log.warn(found, 'events that were not delivered were read from the sender')
  else log.info(found, 'compared with the sender: nothing is missing')
}
