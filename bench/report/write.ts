/** The results of a run: in the terminal, and in a folder as Markdown and JSON. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reached } from '../aims.js'
import type { SuiteResult, Table } from '../suite.js'
import type { Environment } from './environment.js'
import { peersTable } from './peers.js'
import { sizingTable } from './sizing.js'
import { markdownTable, plainTable, text } from './table.js'

export interface RunResults {
  /** The names of the files begin with it: 2026-11-17T05-35. */
  readonly startedAt: string
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

export function writeResults(folder: string, run: RunResults): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${run.startedAt}.json`), `${JSON.stringify(run, null, 1)}\n`)
  const lines = [
    `# Benchmark of ${run.startedAt}`,
    environmentText(run.environment),
    `## Aims\n\n${markdownTable(aimsHead, aimsRows(run.suites))}`,
    `## Other systems\n\n${tableText(peersTable(run.suites))}`,
    `## Sizing\n\n${tableText(sizingTable(run.suites))}`,
    ...run.suites.map((suite) => `## ${suite.title}\n\n${suiteText(suite)}`),
  ]
  writeFileSync(join(folder, `${run.startedAt}.md`), `${lines.join('\n\n')}\n`)
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
