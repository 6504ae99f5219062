/**
 * `npm run bench -- --short`: the suites run, and the tables and figures they leave behind are complete. `npm test` runs
 * the quick ones, `npm run chaos -- bench` all of them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reached } from '../../bench/aims.js'
import type { SuiteResult } from '../../bench/suite.js'
import { suites } from '../../bench/suites.js'

const isWhole = process.env.HOOKONCE_BENCH === 'all'
const quick = ['store', 'verification', 'retention']
const taken = suites.map(({ name }) => name).filter((name) => isWhole || quick.includes(name))

let out: string
let printed = ''
let exitCode: number | null
let pid: number | undefined
let results: SuiteResult[]
let document: string

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'hookonce-bench-'))
  const args = ['--import', 'tsx', 'bench/main.ts', '--short', '--out', out, ...taken]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  pid = child.pid
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const [code, signal] = await once(child, 'close')
  exitCode = code
  const read = (ending: string) => {
    const file = readdirSync(out).find((name) => name.endsWith(ending))
    if (file === undefined) throw new Error(`The run ended with ${code ?? signal}:\n${printed}`)
    return readFileSync(join(out, file), 'utf8')
  }
  results = JSON.parse(read('.json')).suites
  document = read('.md')
}, 900_000)

afterAll(() => rm(out, { recursive: true, force: true }))

test('the run succeeds, and shows its progress', () => {
  expect(exitCode, printed).toBe(0)
  expect(printed).toContain(`${taken.length} of ${taken.length} suites`)
})

test.runIf(isWhole)('every aim has its figure, in a table', () => {
  expect(printed).toMatch(/SQLite intake \/ its floor prototype +[\d.]+ +at least 0.75 +(pass|fail)/)
  expect(reached(results).filter(({ result }) => result === 'not measured')).toEqual([])
})

describe.each(taken.filter((name) => name !== 'nodes'))('suite %s', (name) => {
  const find = () => results.find((result) => result.name === name)!

  test('has run without a failure', () => {
    expect(find()).toMatchObject({ failure: null, skipped: null })
    expect(find().notes.filter((note) => note.includes('FAILED'))).toEqual([])
  })

  test('has complete tables', () => {
    expect(find().tables).not.toEqual([])
    for (const { title, head, rows } of find().tables) {
      expect(rows.length, title).toBeGreaterThan(0)
      for (const row of rows) {
        expect(row.length, title).toBe(head.length)
        // A figure that was not measured is null in JSON.
        expect(row, title).not.toContain(null)
        expect(row.join(), title).not.toContain('NaN')
      }
    }
  })

  test('has written its part of the document', () => {
    const part = document.split(`\n## ${find().title}\n`)[1]!.split('\n## ')[0]
    expect(part).toContain(`| ${find().tables[0]!.head[0]} |`)
  })
})

test.runIf(isWhole)('suite nodes says why it did not run', () => {
  expect(results.find(({ name }) => name === 'nodes')!.skipped).toMatch(/--node newest/)
})

test('nothing of the run is left in the repository', () => {
  expect(existsSync(`bench/.build/${pid}`)).toBe(false)
})
