/** The results of a run: in the terminal, in `bench/results/<date>.*`, and in docs/performance.md with its plots. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reached } from '../aims.js'
import type { SuiteResult, Table } from '../suite.js'
import type { Environment } from './environment.js'
import { peersTable } from './peers.js'
import { svg } from './plot.js'
import { sizingTable } from './sizing.js'
import { markdownTable, plainTable, text } from './table.js'

export interface RunResults {
  readonly date: string
  readonly environment: Environment
  readonly suites: readonly SuiteResult[]
}

export const aimsHead = ['aim', 'figure', 'aim at', 'result']

export function aimsRows(suites: readonly SuiteResult[]): string[][] {
  return reached(suites).map(({ what, value, aim, is, unit, result }) => [
    what,
    Number.isFinite(value) ? `${text(value)}${unit}` : '-',
    `${is} ${aim}${unit}`,
    result,
  ])
}

export function printSuite({ title, tables, notes, failure, skipped }: SuiteResult): void {
  console.log(`\n## ${title}`)
  if (failure !== null) console.log(`FAILED: ${failure}`)
  if (skipped !== null) console.log(`Skipped: ${skipped}`)
  for (const table of tables) console.log(`\n${table.title}\n${plainTable(table.head, table.rows)}`)
  for (const note of notes) console.log(note)
}

/** A second run on the same day replaces the suites that it ran. */
export function mergeWithFile(folder: string, run: RunResults): RunResults {
  let earlier: RunResults
  try {
    earlier = JSON.parse(readFileSync(join(folder, `${run.date}.json`), 'utf8'))
  } catch {
    return run
  }
  const again = new Set(run.suites.filter(({ skipped }) => skipped === null).map(({ name }) => name))
  const kept = earlier.suites.filter(({ name }) => !again.has(name))
  const keptNames = new Set(kept.map(({ name }) => name))
  return { ...run, suites: [...kept, ...run.suites.filter(({ name }) => !keptNames.has(name))] }
}

export function writeResults(folder: string, run: RunResults): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${run.date}.json`), `${JSON.stringify(run, null, 1)}\n`)
  const lines = [
    `# Benchmark of ${run.date}`,
    environmentText(run.environment),
    `## Aims\n\n${markdownTable(aimsHead, aimsRows(run.suites))}`,
    `## Other systems\n\n${tableText(peersTable(run.suites))}`,
    `## Sizing\n\n${tableText(sizingTable(run.suites))}`,
    ...run.suites.map((suite) => `## ${suite.title}\n\n${suiteText(suite)}`),
  ]
  writeFileSync(join(folder, `${run.date}.md`), `${lines.join('\n\n')}\n`)
}

export function writePlots(folder: string, suites: readonly SuiteResult[]): void {
  mkdirSync(folder, { recursive: true })
  for (const plot of suites.flatMap(({ plots }) => plots)) {
    writeFileSync(join(folder, `${plot.name}.svg`), svg(plot))
  }
}

/** Replaces the text between `<!-- bench:name -->` and `<!-- /bench:name -->` for each suite of the run, and the aims. */
export function rewriteDocument(path: string, run: RunResults, plotsFolder: string): void {
  let document = readFileSync(path, 'utf8')
  const put = (name: string, content: string) => {
    const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
    const from = document.indexOf(open)
    const to = document.indexOf(close)
    if (from < 0 || to < from) throw new Error(`${path} has no place for ${name}: ${open} ... ${close}`)
    document = `${document.slice(0, from + open.length)}\n${content}\n${document.slice(to)}`
  }
  put('environment', environmentText(run.environment))
  put('aims', `${run.date}.\n\n${markdownTable(aimsHead, aimsRows(run.suites))}`)
  put('peers', tableText(peersTable(run.suites)))
  put('sizing', tableText(sizingTable(run.suites)))
  for (const suite of run.suites) {
    if (suite.skipped !== null) continue
    const plots = suite.plots.map(({ name, title }) => `![${title}](${plotsFolder}/${name}.svg)\n\n`).join('')
    put(suite.name, plots + suiteText(suite))
  }
  writeFileSync(path, document)
}

function suiteText({ at, seconds, tables, notes, failure, skipped }: SuiteResult): string {
  return [
    ...(failure === null ? [] : [`**Failed:** ${failure}`]),
    ...(skipped === null ? [] : [`Skipped: ${skipped}`]),
    ...tables.map(tableText),
    [...notes, `Measured on ${at.slice(0, 16).replace('T', ' ')} UTC in ${Math.round(seconds)} s.`].join(' '),
  ].join('\n\n')
}

function tableText({ title, head, rows }: Table): string {
  return `**${title}**\n\n${markdownTable(head, rows)}`
}

export function environmentText({ facts, settings }: Environment): string {
  return [...facts, ...settings].map((line) => `- ${line}`).join('\n')
}
