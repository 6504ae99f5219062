/** What the last runs say about a source: for metrics, alerts and the dashboard. */
import type { ReconcileReport } from './report.js'

export interface ReconcileSummary {
  readonly source: string
  /** Events that the sender lists and the log lacks, as the last run that ended found them. */
  readonly missing: number
  readonly extra: number
  /** The log has everything up to here. */
  readonly completeUntil: number
  /** When the last run ended. */
  readonly checkedAt: number
}

export const SUMMED_RUNS = 10

/** `reports` are of one source, the latest first. Null when no run has ended. */
export function summaryOf(reports: readonly ReconcileReport[]): ReconcileSummary | null {
  const ended = reports.find(({ state }) => state === 'complete')
  if (ended === undefined) return null
  const { source, missing, recovered, extra, finishedAt, startedAt } = ended
  return {
    source,
    missing: missing - recovered,
    extra,
    completeUntil: Math.max(...reports.map(({ completeUntil }) => completeUntil)),
    checkedAt: finishedAt ?? startedAt,
  }
}
