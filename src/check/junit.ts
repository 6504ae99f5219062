/** The report as JUnit XML, which every CI shows. What is unknown is skipped there, with its reason. */
import { faults } from './faults.js'
import type { Report, TrialReport } from './report.js'

export function junit(report: Report): string {
  const { trials, failed, unknown, durationMs, startedAt } = report
  const suite = `name=${quoted(`hookonce check ${report.provider} ${report.url}`)} tests="${trials.length}" failures="${failed}" errors="0" skipped="${unknown}" time="${seconds(durationMs)}" timestamp="${startedAt.slice(0, 19)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${suite}>`,
    ...trials.map(testcase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testcase(trial: TrialReport): string {
  const open = `    <testcase classname="hookonce.check" name=${quoted(`${trial.name}: ${trial.title}`)} time="${seconds(trial.durationMs)}"`
  if (trial.result === 'pass') return `${open}/>`
  if (trial.result === 'unknown')
    return `${open}>\n      <skipped message=${quoted(trial.saw)}/>\n    </testcase>`
  const advice = trial.fault === null ? '' : `${faults[trial.fault].what} ${faults[trial.fault].fix}`
  const text = escaped(`${trial.saw}\n${trial.why}\n${advice}`)
  return `${open}>\n      <failure type=${quoted(trial.fault ?? 'fail')} message=${quoted(trial.saw)}>${text}</failure>\n    </testcase>`
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('\n', ' ')}"`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML has no way to write most control characters, not even escaped. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\P{C}\n\t]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character]!)
}
