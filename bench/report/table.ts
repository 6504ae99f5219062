/** Medians, quantiles and plain tables. */
import type { Cell } from '../suite.js'

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  if (sorted.length === 0) return Number.NaN
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

/** For the terminal. */
export function plainTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const all = [head, ...rows].map((row) => row.map(text))
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return [line(all[0]!), widths.map((width) => '-'.repeat(width)).join('  '), ...all.slice(1).map(line)].join(
    '\n',
  )
}

export function markdownTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (row: readonly Cell[]) => `| ${row.map(text).join(' | ')} |`
  return [
    line(head),
    `|${head.map((_, i) => (i === 0 ? '---|' : '---:|')).join('')}`,
    ...rows.map(line),
  ].join('\n')
}

/** `-` for a figure that was not measured. JSON keeps such a figure as null. */
export function text(cell: Cell | null): string {
  if (typeof cell === 'string') return cell
  if (cell === null || !Number.isFinite(cell)) return '-'
  const size = Math.abs(cell)
  if (size >= 100) return Math.round(cell).toLocaleString('en-US')
  if (Number.isInteger(cell)) return String(cell)
  return cell.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3)
}
