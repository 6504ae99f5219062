/**
 * The spine of an examination: plan, hold the trials one after the other, report. Nothing is sent before `hold` is
 * called, so that the number of deliveries can be said first.
 */
import { invalid, isHookonceError } from '../errors.js'
import { createExam, type ExamineOptions, type Sent } from './exam.js'
import { type Fault, faults } from './faults.js'
import type { Finding, Report, TrialReport } from './report.js'
import { targetUrl } from './target.js'
import { answerTimes } from './times.js'
import { type Exam, type Need, type Trial, unknown } from './trial.js'
import { trials } from './trials.js'

export interface Examination {
  readonly trials: readonly Trial[]
  /** Deliveries at most. */
  readonly requests: number
  hold(onTrial?: (trial: Trial, done: TrialReport | null) => void): Promise<Report>
}

export function examination(options: ExamineOptions): Examination {
  const url = targetUrl(options.url, 'The endpoint', options.owned ?? false)
  if (options.fault !== undefined) targetUrl(options.fault, 'The fault URL', options.owned ?? false)
  if (options.probe !== undefined) targetUrl(options.probe, 'The probe URL', true)
  const chosen = choose(options.only)
  const given = needsMet(options)
  const runs = (trial: Trial) => (trial.needs ?? []).every((need) => given.has(need))
  return {
    trials: chosen,
    requests: chosen.filter(runs).reduce((sum, trial) => sum + trial.requests, 0),
    hold: (onTrial = () => {}) => hold(options, url, chosen, given, onTrial),
  }
}

async function hold(
  options: ExamineOptions,
  url: URL,
  chosen: readonly Trial[],
  given: ReadonlySet<Need>,
  onTrial: (trial: Trial, done: TrialReport | null) => void,
): Promise<Report> {
  const startedAt = new Date()
  const began = performance.now()
  const sent: Sent = { requests: 0, answers: [] }
  const exam = createExam(options, url, sent)
  const reports: TrialReport[] = []
  const leftOut: { name: string; because: string }[] = []
  for (const trial of chosen) {
    onTrial(trial, null)
    const trialBegan = performance.now()
    const before = sent.requests
    const found = await heldOrNot(trial, exam, given, reports[0])
    if (typeof found === 'string') {
      leftOut.push({ name: trial.name, because: found })
      continue
    }
    const report: TrialReport = {
      name: trial.name,
      title: trial.title,
      result: found.result,
      fault: found.fault ?? null,
      saw: found.saw,
      why: trial.why,
      requests: sent.requests - before,
      durationMs: Math.round(performance.now() - trialBegan),
    }
    reports.push(report)
    onTrial(trial, report)
  }
  const count = (result: Finding['result']) => reports.filter((one) => one.result === result).length
  const failed = count('fail')
  return {
    url: shown(url),
    provider: options.source.key,
    type: exam.sender.type,
    ok: failed === 0 && !(options.strict && count('unknown') > 0),
    passed: count('pass'),
    failed,
    unknown: count('unknown'),
    faults: faultsIn(reports),
    trials: reports,
    leftOut,
    requests: sent.requests,
    answerTimes: answerTimes(sent.answers),
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - began),
  }
}

async function heldOrNot(
  trial: Trial,
  exam: Exam,
  given: ReadonlySet<Need>,
  first: TrialReport | undefined,
): Promise<Finding | string> {
  if (first?.fault === 'unreachable' || first?.fault === 'rejects_valid')
    return unknown('Skipped: the endpoint does not accept a valid event.')
  const missing = (trial.needs ?? []).filter((need) => !given.has(need))
  if (missing.length > 0)
    return unknown(`Skipped: needs ${missing.map((need) => flags[need]).join(' and ')}.`)
  try {
    return await trial.run(exam)
  } catch (error) {
    // A probe or command that does not work at all is the caller's to mend; one that fails later is a thing seen.
    if (first === undefined || !isHookonceError(error, 'INVALID_INPUT')) throw error
    return unknown(`Stopped: ${error.message}`)
  }
}

const flags: Readonly<Record<Need, string>> = {
  probe: '--probe or --probe-command',
  restart: '--restart-command',
  crash: '--crash-command',
  fault: '--fault',
}

function needsMet(options: ExamineOptions): ReadonlySet<Need> {
  const met = new Set<Need>()
  if (options.probe !== undefined || options.probeCommand !== undefined) met.add('probe')
  if (options.restartCommand !== undefined) met.add('restart')
  if (options.crashCommand !== undefined) met.add('crash')
  if (options.fault !== undefined) met.add('fault')
  return met
}

function choose(only: readonly string[] | undefined): readonly Trial[] {
  if (only === undefined || only.length === 0) return trials
  const unheard = only.find((name) => !trials.some((trial) => trial.name === name))
  if (unheard !== undefined)
    throw invalid(
      '--only',
      `has no trial "${unheard}"; known trials: ${trials.map(({ name }) => name).join(', ')}`,
    )
  return trials.filter((trial, i) => i === 0 || only.includes(trial.name))
}

function faultsIn(reports: readonly TrialReport[]): Report['faults'] {
  const found = new Set(reports.flatMap(({ fault }) => (fault === null ? [] : [fault])))
  return (Object.keys(faults) as Fault[])
    .filter((fault) => found.has(fault))
    .map((fault) => ({ fault, ...faults[fault] }))
}

/** Without what may be a credential. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`
}

export type { ExamineOptions } from './exam.js'
