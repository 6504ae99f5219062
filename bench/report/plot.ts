/** Small SVG plots for docs/performance.md: bars, stacked bars and lines. They read well on light and dark pages. */
import { text } from './table.js'

export type Plot = BarPlot | StackedPlot | LinePlot

interface Named {
  /** The name of the file, without its ending. */
  readonly name: string
  readonly title: string
}

export interface BarPlot extends Named {
  readonly kind: 'bars'
  readonly bars: readonly { readonly label: string; readonly value: number }[]
}

export interface StackedPlot extends Named {
  readonly kind: 'stacked'
  readonly parts: readonly string[]
  readonly bars: readonly { readonly label: string; readonly values: readonly number[] }[]
}

export interface LinePlot extends Named {
  readonly kind: 'lines'
  readonly x: { readonly title: string; readonly log?: boolean }
  readonly y: { readonly title: string; readonly log?: boolean }
  readonly lines: readonly {
    readonly label: string
    readonly points: readonly (readonly [number, number])[]
  }[]
}

const WIDTH = 800
const colours = [
  '#4269d0',
  '#efb118',
  '#ff725c',
  '#3ca951',
  '#a463f2',
  '#6cc5b0',
  '#9c6b4e',
  '#97bbf5',
  '#ff8ab7',
  '#9498a0',
]

export function svg(plot: Plot): string {
  if (plot.kind === 'lines') return lineSvg(plot)
  if (plot.kind === 'bars') {
    const bars = plot.bars.map(({ label, value }) => ({ label, values: [value] }))
    return barSvg({ ...plot, kind: 'stacked', parts: [], bars })
  }
  return barSvg(plot)
}

function barSvg({ title, parts, bars }: StackedPlot): string {
  const left = 330
  const right = 90
  const top = parts.length > 0 ? 64 : 40
  const row = 26
  const totals = bars.map(({ values }) => sum(values))
  const scale = (WIDTH - left - right) / Math.max(1e-9, ...totals.filter(Number.isFinite))
  const body = bars.flatMap(({ label, values }, i) => {
    const y = top + i * row
    const isOurs = label.startsWith('hookonce')
    let x = left
    const boxes = values.map((value, part) => {
      const width = Number.isFinite(value) ? value * scale : 0
      const colour = parts.length > 0 ? colours[part]! : isOurs ? colours[0]! : '#8b949e'
      const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="18" fill="${colour}"/>`
      x += width
      return box
    })
    return [
      labelAt(left - 8, y + 13, label, `text-anchor="end"${isOurs ? ' font-weight="bold"' : ''}`),
      ...boxes,
      labelAt(x + 6, y + 13, text(totals[i]!)),
    ]
  })
  const legend = parts.map((part, i) => legendItem(left + i * 150, 44, part, colours[i]!))
  return frame(title, top + bars.length * row + 10, [...legend, ...body])
}

function lineSvg({ title, x, y, lines }: LinePlot): string {
  const [left, top, height] = [70, 40, 260]
  const width = WIDTH - left - 220
  const points = lines.flatMap((line) => line.points).filter((point) => point.every(Number.isFinite))
  const place = (log: boolean | undefined, values: readonly number[], fromZero: boolean) => {
    const at = (value: number) => (log ? Math.log10(Math.max(value, 1e-6)) : value)
    const low = fromZero && !log ? 0 : Math.min(...values.map(at))
    const high = Math.max(...values.map(at))
    return { low, high, at: (value: number) => (high === low ? 0.5 : (at(value) - low) / (high - low)) }
  }
  const across = place(
    x.log,
    points.map(([value]) => value),
    false,
  )
  const up = place(
    y.log,
    points.map(([, value]) => value),
    true,
  )
  const ticks = (axis: { low: number; high: number }, log: boolean | undefined) =>
    Array.from({ length: 5 }, (_, i) => axis.low + ((axis.high - axis.low) * i) / 4).map((value) =>
      log ? 10 ** value : value,
    )
  const pixelX = (value: number) => left + across.at(value) * width
  const pixelY = (value: number) => top + height - up.at(value) * height
  const body = [
    ...ticks(up, y.log).map(
      (value) =>
        `<line x1="${left}" x2="${left + width}" y1="${pixelY(value).toFixed(1)}" y2="${pixelY(value).toFixed(1)}" stroke="#8b949e" stroke-opacity="0.3"/>${labelAt(left - 8, pixelY(value) + 4, text(value), 'text-anchor="end"')}`,
    ),
    ...ticks(across, x.log).map((value) =>
      labelAt(pixelX(value), top + height + 18, text(Number(value.toPrecision(3))), 'text-anchor="middle"'),
    ),
    labelAt(left + width / 2, top + height + 38, x.title, 'text-anchor="middle"'),
    labelAt(left, top - 6, y.title),
    ...lines.flatMap(({ label, points: own }, i) => {
      const colour = colours[i % colours.length]!
      const path = own
        .filter((point) => point.every(Number.isFinite))
        .map(([px, py]) => `${pixelX(px).toFixed(1)},${pixelY(py).toFixed(1)}`)
        .join(' ')
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        legendItem(left + width + 16, top + 10 + i * 20, label, colour),
      ]
    }),
  ]
  return frame(title, top + height + 50, points.length === 0 ? [] : body)
}

function frame(title: string, height: number, body: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    labelAt(10, 20, title, 'font-size="14" font-weight="bold"'),
    ...body,
    '</svg>\n',
  ].join('\n')
}

function legendItem(x: number, y: number, label: string, colour: string): string {
  return `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colour}"/>${labelAt(x + 15, y, label)}`
}

function labelAt(x: number, y: number, content: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="#24292f" ${more}>${escaped(content)}</text>`
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
