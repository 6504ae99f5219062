/**
 * `/metrics` in the text format of Prometheus: the counters of this process and the statistics of the log. A client
 * library would keep a second set of counters, so the format is written here.
 */
import { valueWithin } from '../clock.js'
import type { Histogram } from '../counters.js'
import { destinationStates } from '../forward/destinations.js'
import { wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { followedSource } from '../model.js'
import { oldestUnfinished } from '../processing/oldest.js'
import { type ReconcileSummary, SUMMED_RUNS, summaryOf } from '../reconcile/summary.js'
import { need } from '../store.js'
import { type Labels, type Metric, measured, type Sample } from './catalogue.js'

/** Scrapers and alerts that ask within this time share one answer of the store. */
const REUSE_MS = 1_500
const WAIT_MS = 2_000

export const statsOf = shared((of) => of.events.stats())

/** The unfinished event that was received first; undefined when there is none. */
export const oldestOf = shared(async (of) =>
  oldestUnfinished(need(await wholeInbox(of).store(), 'inspect', 'the age of the oldest event')),
)

/** Of the sources whose list can be read. */
export const reconciledOf = shared(summaries)

/** Null when the store did not answer in time. */
function shared<T>(ask: (of: Inbox) => Promise<T>): (of: Inbox) => Promise<T | null> {
  const asked = new WeakMap<Inbox, { readonly at: number; readonly answer: Promise<T | null> }>()
  return (of) => {
    const last = asked.get(of)
    if (last && performance.now() - last.at < REUSE_MS) return last.answer
    const answer = valueWithin(ask(of), WAIT_MS, null).catch(() => null)
    asked.set(of, { at: performance.now(), answer })
    return answer
  }
}

async function summaries(of: Inbox): Promise<ReconcileSummary[]> {
  const names = [...wholeInbox(of).sources].filter(([, { list }]) => list?.problem === null)
  const found: ReconcileSummary[] = []
  for (const [source] of names) {
    const summary = summaryOf(await of.reports({ source, limit: SUMMED_RUNS }))
    if (summary) found.push(summary)
  }
  return found
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Never throws and never waits long for the store: without its answer the page has `hookonce_store_up 0`. */
export async function metricsText(of: Inbox): Promise<string> {
  const { counters, sources, health } = wholeInbox(of)
  const [stats, oldest, healthFound] = await Promise.all([
    statsOf(of),
    oldestOf(of),
    valueWithin(health(), WAIT_MS, null).catch(() => null),
  ])
  const seen = [...counters.bySource]
  const facts = {
    counters,
    seen,
    configured: seen.filter(([source]) => sources.has(followedSource(source))),
    stats: (stats ?? []).filter(({ source }) => sources.has(followedSource(source))),
    oldest,
    storeUp: stats !== null,
    destinations: destinationStates(of),
    reconciled: (await reconciledOf(of)) ?? [],
    health: healthFound,
    now: Date.now(),
  }
  return Object.values(measured)
    .map((metric) => exposed(metric, metric.samples(facts)))
    .join('')
}

function exposed(metric: Metric, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  const lines = samples.map(([labels, value]) =>
    typeof value === 'number' ? line(metric.name, labels, value) : histogramLines(metric.name, labels, value),
  )
  return head(metric) + lines.join('')
}

function histogramLines(name: string, labels: Labels, { bounds, counts, sum, count }: Histogram): string {
  let under = 0
  const buckets = bounds.map((bound, i) => {
    under += counts[i]!
    return line(`${name}_bucket`, { ...labels, le: String(bound) }, under)
  })
  return [
    ...buckets,
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ].join('')
}

function head({ name, type, help }: Metric): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
