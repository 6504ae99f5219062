/**
 * The Prometheus text format, by hand: it is lines of text, and a client library would bring a registry of its own
 * beside the counters that are there.
 */
import type { Histogram } from '../counters.js'

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
}

export type Labels = Readonly<Record<string, string>>
export type Sample = readonly [labels: Labels, value: number]

export function exposeNumbers(metric: Metric, samples: readonly Sample[]): string {
  if (samples.length === 0) return ''
  return head(metric) + samples.map(([labels, value]) => line(metric.name, labels, value)).join('')
}

export function exposeHistograms(
  metric: Metric,
  histograms: readonly (readonly [Labels, Histogram])[],
): string {
  if (histograms.length === 0) return ''
  return head(metric) + histograms.map(([labels, one]) => histogramLines(metric.name, labels, one)).join('')
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
