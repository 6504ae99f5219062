import type { ReportView } from '../../server/admin/reconcile-view.js'
import { counted, table } from '../output.js'
import { type Paint, printable } from '../terminal-text.js'

const MAX_LINES = 10

export function reportText(report: ReportView, paint: Paint): string {
  const { source, since, until, completeUntil, state, dryRun, types, lacking, extras, error } = report
  const lacks = report.missing - report.recovered
  const verdict = dryRun ? paint('dim', '(dry run: nothing was recorded)') : verdictOf(report, lacks, paint)
  const names = ['listed', 'known', 'missing', 'recovered', 'waiting', 'extra'] as const
  const head = ['TYPE', ...names.map((name) => name.toUpperCase())].map((title) => paint('dim', title))
  const rows = Object.entries(types).map(([type, counts]) => [
    printable(type),
    ...names.map((name) => String(counts[name])),
  ])
  const all = ['all', ...names.map((name) => String(report[name]))]
  return [
    `${printable(source)}: ${shortTime(since)} to ${shortTime(until)}  ${verdict}`,
    table([head, ...rows, all]),
    ...listOf(
      lacking,
      ({ id, type, why }) => `  missing: ${printable(id)} (${printable(type)}): ${printable(why ?? '')}`,
    ),
    ...listOf(
      extras,
      (id) => `  extra: ${printable(id)}, which the sender does not list; it stays in the log`,
    ),
    ...(report.unsubscribed > 0
      ? [
          paint(
            'dim',
            `${counted(report.unsubscribed, 'listed event is', 'listed events are')} not for this endpoint.`,
          ),
        ]
      : []),
    ...(report.disabled
      ? [paint('red', 'The sender has switched this endpoint off. Switch it on there.')]
      : []),
    ...(error === null ? [] : [paint('red', printable(error))]),
    ...(state === 'complete' && !dryRun ? [`Complete until ${shortTime(completeUntil)}.`] : []),
    paint('dim', printable(report.proves)),
  ].join('\n')
}

function verdictOf({ state, missing }: ReportView, lacks: number, paint: Paint): string {
  if (state === 'running') return paint('yellow', 'running')
  if (state === 'failed') return paint('red', 'did not finish')
  if (lacks > 0) return paint('red', `${lacks} still missing`)
  return paint('green', missing === 0 ? 'nothing was missing' : 'nothing is missing now')
}

function listOf<T>(items: readonly T[], line: (item: T) => string): string[] {
  const more = items.length > MAX_LINES ? [`  and more; --json lists them`] : []
  return [...items.slice(0, MAX_LINES).map(line), ...more]
}

function shortTime(iso: string): string {
  return iso.replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC')
}
