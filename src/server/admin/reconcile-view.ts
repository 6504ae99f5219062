/** A report of reconcile as the API and the command line show it. */
import type { ReconcileReport } from '../../reconcile/report.js'
import { instant, withInstants } from './views.js'

/** What the sender or the store said may quote more than a viewer may read. */
export function reportView(report: ReconcileReport, detail: boolean) {
  const { since, until, comparedUntil, completeUntil, notBefore: _, ...rest } = report
  return withInstants({
    ...rest,
    since: instant(since),
    until: instant(until),
    comparedUntil: instant(comparedUntil),
    completeUntil: instant(completeUntil),
    error: detail ? report.error : report.error && 'It did not finish.',
    lacking: report.lacking.map((event) => ({ ...event, why: detail ? event.why : null })),
  })
}
export type ReportView = ReturnType<typeof reportView>
