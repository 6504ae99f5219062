/** Reads the Prometheus text format, strictly: a line that does not fit is an error. */
export interface Exposed {
  readonly types: ReadonlyMap<string, string>
  /** The value of a series; undefined when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
  /** Every series of a name: its labels and its value. */
  series(name: string): readonly { readonly labels: Record<string, string>; readonly value: number }[]
}

const sample = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (\+Inf|-?[0-9.e+-]+)$/
const pair = /([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy

export function readExposition(text: string): Exposed {
  const types = new Map<string, string>()
  const series = new Map<string, { labels: Record<string, string>; value: number }[]>()
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (type) {
      if (types.has(type[1]!)) throw new Error(`${type[1]} is there twice`)
      types.set(type[1]!, type[2]!)
    } else if (!/^# HELP \S+ .+$/.test(line)) {
      const found = sample.exec(line)
      if (!found) throw new Error(`not a sample: ${line}`)
      const [, name = '', labelText = '', value] = found
      const labels: Record<string, string> = {}
      let read = 0
      for (const [whole, label = '', given = ''] of labelText.matchAll(pair)) {
        labels[label] = given
        read += whole.length
      }
      if (read !== labelText.length) throw new Error(`bad labels: ${line}`)
      const base = name.replace(/_(bucket|sum|count)$/, '')
      if (!types.has(name) && types.get(base) !== 'histogram') throw new Error(`no type for ${name}`)
      const list = series.get(name) ?? []
      const key = JSON.stringify(labels)
      if (list.some((one) => JSON.stringify(one.labels) === key)) throw new Error(`twice: ${line}`)
      list.push({ labels, value: value === '+Inf' ? Infinity : Number(value) })
      series.set(name, list)
    }
  }
  return {
    types,
    series: (name) => series.get(name) ?? [],
    value(name, labels = {}) {
      const wanted = Object.entries(labels)
      const found = (series.get(name) ?? []).filter(
        (one) =>
          Object.keys(one.labels).length === wanted.length && wanted.every(([k, v]) => one.labels[k] === v),
      )
      return found[0]?.value
    },
  }
}
