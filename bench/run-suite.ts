/** Runs one suite. A suite that fails is reported as failed and does not stop the others. */
import { createBench, type RunOptions } from './bench.js'
import type { Suite, SuiteResult } from './suite.js'

export async function runSuite(suite: Suite, budgetMs: number, options: RunOptions): Promise<SuiteResult> {
  const bench = createBench(suite.name, budgetMs, options)
  const startedAt = performance.now()
  const base = { name: suite.name, title: suite.title, at: new Date().toISOString() }
  const empty = { tables: [], figures: {} }
  const seconds = () => (performance.now() - startedAt) / 1_000
  const skipped = suite.skip?.(options) ?? null
  if (skipped !== null) return { ...base, ...empty, seconds: 0, notes: [], failure: null, skipped }
  try {
    const findings = await suite.run(bench)
    return { ...base, ...findings, seconds: seconds(), notes: bench.notes, failure: null, skipped: null }
  } catch (error) {
    console.error(error)
    const failure = error instanceof Error ? error.message : String(error)
    return { ...base, ...empty, seconds: seconds(), notes: bench.notes, failure, skipped: null }
  } finally {
    await bench.end().catch((error) => console.error(`${suite.name}: cleaning up failed:`, error))
  }
}
