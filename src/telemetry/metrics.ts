/**
 * `/metrics`: the counters of this process and the statistics of the log, in the text format of Prometheus. The format is
 * written by hand, because a client library would keep a second set of counters.
 */
import { valueWithin } from '../clock.js'
import { attemptEnds, type Histogram, type SourceCounters } from '../counters.js'
import { type DestinationState, destinationStates } from '../forward/destinations.js'
import { type WholeInbox, wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import type { SourceStats } from '../model.js'
import { type Metric, metrics } from './catalogue.js'

/** Scrapers and alerts that ask within this time share one answer of the store. */
const KEEP_MS = 1_500
const WAIT_MS = 2_000

interface Asked {
  readonly at: number
  readonly answer: Promise<readonly SourceStats[] | null>
}
const asked = new WeakMap<Inbox, Asked>()

/** The statistics of the log for metrics and alerts. Null when the store did not answer in time. */
export function statsOf(inbox: Inbox): Promise<readonly SourceStats[] | null> {
  const last = asked.get(inbox)
  if (last && performance.now() - last.at < KEEP_MS) return last.answer
  const answer = valueWithin(inbox.events.stats(), WAIT_MS, null).catch(() => null)
  asked.set(inbox, { at: performance.now(), answer })
  return answer
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Never throws and never waits long for the store: without its answer the page has `hookonce_store_up 0`. */
export async function metricsText(of: Inbox): Promise<string> {
  const inbox = wholeInbox(of)
  const stats = await statsOf(inbox)
  return [
    ...ofIntake(inbox),
    ...ofProcessing(inbox),
    ...ofStore(inbox, stats),
    ...ofOptionalFeatures(inbox),
    ...ofDestinations(inbox),
  ].join('')
}

function ofIntake({ counters }: WholeInbox): string[] {
  const sources = [...counters.bySource]
  const each = (value: (own: Readonly<SourceCounters>) => number): Sample[] =>
    sources.map(([source, own]) => [{ source }, value(own)])
  return [
    exposeNumbers(
      metrics.received,
      each((own) => own.received),
    ),
    exposeNumbers(
      metrics.recorded,
      each((own) => own.recorded),
    ),
    exposeNumbers(
      metrics.duplicates,
      each((own) => own.duplicates),
    ),
    exposeNumbers(
      metrics.conflicts,
      each((own) => own.conflicts),
    ),
    exposeNumbers(
      metrics.replayed,
      each((own) => own.replayed),
    ),
    exposeNumbers(
      metrics.flagged,
      each((own) => own.flagged),
    ),
    exposeNumbers(
      metrics.spooled,
      each((own) => own.spooled),
    ),
    exposeNumbers(
      metrics.handshakes,
      each((own) => own.handshakes),
    ),
    exposeNumbers(
      metrics.rejected,
      sources.flatMap(([source, own]) => byLabel(own.rejected, (reason) => ({ source, reason }))),
    ),
    exposeHistograms(
      metrics.ack,
      sources.map(([source, own]) => [{ source }, own.ackSeconds]),
    ),
    exposeHistograms(metrics.commit, [[{}, counters.commitSeconds]]),
    exposeHistograms(metrics.commitSize, [[{}, counters.commitSizes]]),
  ]
}

function ofProcessing({ counters, sources: configured }: WholeInbox): string[] {
  const sources = [...counters.bySource].filter(([source]) => configured.has(source))
  return [
    exposeNumbers(
      metrics.attempts,
      sources.flatMap(([source, own]) =>
        attemptEnds.map((outcome): Sample => [{ source, outcome }, own.attempts[outcome]]),
      ),
    ),
    exposeHistograms(
      metrics.handler,
      sources.map(([source, own]) => [{ source }, own.handlerSeconds]),
    ),
    exposeNumbers(
      metrics.deadLetters,
      sources.map(([source, own]) => [{ source }, own.deadLetters]),
    ),
    exposeNumbers(
      metrics.leasesLost,
      sources.map(([source, own]) => [{ source }, own.leasesLost]),
    ),
  ]
}

const statStates = ['pending', 'processing', 'retrying', 'succeeded', 'ignored', 'dead'] as const

/** Only sources that are configured: a log may hold others, and their names came from somewhere else. */
function ofStore({ counters, sources }: WholeInbox, stats: readonly SourceStats[] | null): string[] {
  const own = (stats ?? []).filter(({ source }) => sources.has(source))
  const now = Date.now()
  return [
    exposeNumbers(
      metrics.storeErrors,
      byLabel(counters.storeErrors, (code) => ({ code })),
    ),
    exposeNumbers(metrics.storeUp, [[{}, stats ? 1 : 0]]),
    exposeNumbers(
      metrics.events,
      own.flatMap((one) => statStates.map((state): Sample => [{ source: one.source, state }, one[state]])),
    ),
    exposeNumbers(
      metrics.backlog,
      own.map((one) => [{ source: one.source }, one.pending + one.processing + one.retrying]),
    ),
    exposeNumbers(
      metrics.oldestDue,
      own.map((one) => [
        { source: one.source },
        one.oldestDueAt === null ? 0 : Math.max(0, now - one.oldestDueAt) / 1_000,
      ]),
    ),
  ]
}

function ofOptionalFeatures({ counters: { spool, seen, retention } }: WholeInbox): string[] {
  const { partitionsAhead } = retention
  const kinds = ['payloads', 'events', 'attempts', 'audits'] as const
  return [
    exposeNumbers(metrics.retentionRuns, [
      [{ outcome: 'done' }, retention.runs],
      [{ outcome: 'failed' }, retention.failures],
    ]),
    exposeNumbers(
      metrics.retentionRemoved,
      kinds.map((kind) => [{ kind }, retention[kind]]),
    ),
    exposeNumbers(metrics.partitionsAhead, partitionsAhead === null ? [] : [[{}, partitionsAhead]]),
    exposeNumbers(metrics.partitionAlarms, [[{}, retention.alarms]]),
    exposeNumbers(metrics.spool, spool ? [[{}, spool().depth]] : []),
    exposeNumbers(metrics.spoolSetAside, spool ? [[{}, spool().setAside]] : []),
    exposeNumbers(metrics.seenHits, seen ? [[{}, seen.hits]] : []),
    exposeNumbers(metrics.seenMisses, seen ? [[{}, seen.misses]] : []),
    exposeNumbers(metrics.seenErrors, seen ? [[{}, seen.errors]] : []),
  ]
}

function ofDestinations(inbox: Inbox): string[] {
  const states = destinationStates(inbox)
  const each = (value: (state: DestinationState) => number): Sample[] =>
    states.map((state) => [{ destination: state.name }, value(state)])
  return [
    exposeNumbers(
      metrics.destinationPaused,
      each((state) => Number(state.paused)),
    ),
    exposeNumbers(
      metrics.destinationActive,
      each((state) => state.active),
    ),
    exposeNumbers(
      metrics.destinationFailures,
      each((state) => state.failuresInARow),
    ),
    exposeNumbers(
      metrics.destinationSends,
      states.flatMap((state) =>
        (['sent', 'failed', 'postponed'] as const).map(
          (outcome): Sample => [{ destination: state.name, outcome }, state[outcome]],
        ),
      ),
    ),
  ]
}

function byLabel(counts: Readonly<Record<string, number>>, labels: (key: string) => Labels): Sample[] {
  return Object.entries(counts).map(([key, value]) => [labels(key), value])
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

function exposeNumbers(metric: Metric, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  return head(metric) + samples.map(([labels, value]) => line(metric.name, labels, value)).join('')
}

function exposeHistograms(metric: Metric, histograms: readonly (readonly [Labels, Histogram])[]): string {
  if (histograms.length === 0) return ''
  return (
    head(metric) +
    histograms.map(([labels, histogram]) => histogramLines(metric.name, labels, histogram)).join('')
  )
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
