/** The examination against hookonce and against five endpoints that are wrong in one way each. */
import { stripe } from 'hookonce/providers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examination } from '#dist/check/examine.js'
import type { Report } from '#dist/check/report.js'
import { type Example, exampleSecret, startExample } from '../support/examples.js'

const expected: Record<string, string[]> = {
  right: [],
  'no-dedupe': ['no_dedupe'],
  'check-then-insert': ['race'],
  'memory-dedupe': ['memory_dedupe'],
  'mark-before-work': ['mark_before_work'],
  'reserialised-signature': ['reserialised_signature'],
}

const running: Example[] = []
const reports: Record<string, Report> = {}
const promised: Record<string, number> = {}

/** All at once: they mostly wait. */
beforeAll(async () => {
  const examined = Object.keys(expected).map(async (name) => {
    const example = await startExample(name)
    running.push(example)
    const exam = examination({
      url: example.url,
      source: stripe({ secret: exampleSecret }),
      probe: example.probe,
      fault: example.fault,
      restartCommand: example.restartCommand,
      waitMs: 6_000,
    })
    promised[name] = exam.requests
    reports[name] = await exam.run()
  })
  await Promise.all(examined)
})
afterAll(() => Promise.all(running.map((example) => example.stop())))

const byName = (report: Report) => Object.fromEntries(report.trials.map((trial) => [trial.name, trial]))

describe('examples/broken', () => {
  for (const [name, faults] of Object.entries(expected)) {
    test(`${name}: ${faults.length ? `the fault is ${faults}, and no other is named` : 'no fault is found'}`, () => {
      const report = reports[name]!
      expect(report.faults.map(({ fault }) => fault)).toEqual(faults)
      expect(report.ok).toBe(faults.length === 0)
      expect(report.leftOut).toEqual([])
    })
  }

  test('no more deliveries are made than were announced', () => {
    for (const [name, report] of Object.entries(reports)) {
      expect(report.requests).toBeLessThanOrEqual(promised[name]!)
      expect(report.requests).toBe(report.trials.reduce((sum, trial) => sum + trial.requests, 0))
    }
  })
})

test('hookonce passes every trial that could be held', () => {
  const results = reports.right!.trials.map(({ name, result }) => [name, result])
  expect(results).toEqual(
    reports.right!.trials.map(({ name }) => [name, name === 'crash' ? 'unknown' : 'pass']),
  )
  expect(byName(reports.right!).crash!.saw).toContain('--crash-command')
})

test('what is said is what was seen', () => {
  expect(byName(reports['no-dedupe']!).again!.saw).toBe('Answered 200, then 200; 2 effects.')
  expect(byName(reports['no-dedupe']!)['burst-10']!.fault).toBe('no_dedupe')
  expect(byName(reports['check-then-insert']!)['burst-50']!.saw).toMatch(
    /^Answered 50 x 200, .* [0-9]+ effects\.$/,
  )
  expect(byName(reports['memory-dedupe']!).restart!.saw).toBe('Answered 200; 2 effects.')
  expect(byName(reports['mark-before-work']!).failure!.saw).toContain('Answered 500, then 200; 0 effects.')
  expect(byName(reports['reserialised-signature']!).spelling!.saw).toContain('whitespace')
})
