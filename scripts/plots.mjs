/**
 * Draws docs/images/performance.svg from the table of docs/performance.md, so that both have the same figures.
 * `node scripts/plots.mjs` writes it; `npm run check` compares.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
export const picture = 'docs/images/performance.svg'

/** [the first cell of a row, the title of its group] @type {readonly (readonly [string, string])[]} */
const groups = [
  ['receive on PostgreSQL, the same', 'Receive on PostgreSQL (BullMQ: on Redis), 64 connections'],
  ['receive on PostgreSQL, 99 % duplicates', 'The same, 99 % duplicates'],
  ['receive and handle in one process, events/s', 'Receive and handle in one process'],
]
const barHeightPx = 18
const labelWidthPx = 190
const barsWidthPx = 480
const widthPx = labelWidthPx + barsWidthPx + 90

export async function plot() {
  const text = await readFile(join(root, 'docs/performance.md'), 'utf8')
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  let y = 12
  const parts = groups.map(([label, title]) => {
    const row = rows.find((cells) => cells[1] === label)
    if (!row) throw new Error(`docs/performance.md has no row "${label}"`)
    const bars = barsOf(row)
    const most = Math.max(...bars.map(({ value }) => value))
    y += 16
    const heading = `<text x="0" y="${y}" font-weight="bold">${title}, events a second</text>`
    y += 8
    const drawn = bars.map(({ name, value }) => {
      const top = y
      y += barHeightPx + 5
      const width = Math.max(1, Math.round((value / most) * barsWidthPx))
      return `<text x="${labelWidthPx - 8}" y="${top + 13}" text-anchor="end">${name}</text>
<rect x="${labelWidthPx}" y="${top}" width="${width}" height="${barHeightPx}" rx="2" fill="${name === 'hookonce' ? '#2f6fde' : '#a4acb9'}"/>
<text x="${labelWidthPx + width + 6}" y="${top + 13}">${value.toLocaleString('en')}</text>`
    })
    y += 14
    return [heading, ...drawn].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 0 ${widthPx} ${y}" width="${widthPx}" height="${y}">
<title>Events a second of hookonce and of other systems, from the table of this page</title>
<rect x="-12" width="${widthPx}" height="${y}" fill="#ffffff"/>
<g font-family="system-ui, sans-serif" font-size="13" fill="#1c2430">
${parts.join('\n')}
</g>
</svg>
`
}

/** `| label | 7,750 | BullMQ 9,364, pg-boss 1,826 |`, the fastest first. @param {string[]} cells */
function barsOf([, , ours = '', others = '']) {
  const found = [...others.matchAll(/([A-Za-z][\w .-]*?) (\d[\d,]*)(?=,|$)/g)].map(
    ([, name = '', figure = '']) => ({
      name: name === 'hand-written Express and pg' ? 'by hand' : name,
      value: number(figure),
    }),
  )
  return [{ name: 'hookonce', value: number(ours) }, ...found].sort((a, b) => b.value - a.value)
}

/** @param {string} text */
function number(text) {
  return Number(text.replaceAll(',', ''))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(join(root, picture), await plot())
