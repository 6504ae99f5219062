/** Nothing is sent before `run` is called: the number of deliveries is printed first. */
import { invalid, isHookonceError } from '../errors.js'
import { Exam, type ExamineOptions, targetUrl } from './exam.js'
import { type Fault, faults } from './faults.js'
import { answerTimes, type Finding, type Report, type TrialReport } from './report.js'
import { type Need, type Trial, unknown } from './trial.js'
import { accepts, answerTime, slowClient } from './trials/answers.js'
import { conflict, order } from './trials/content.js'
import { crash, failure } from './trials/failures.js'
import { forged, mangled, stale, tampered, unsigned } from './trials/forgeries.js'
import { again, burst10, burst50, later, restart } from './trials/repeats.js'
import { spelling } from './trials/spelling.js'

/** They run in this order. A new trial is a constant in `trials/` and a line here. */
const trials: readonly Trial[] = [
  accepts,
  again,
  burst10,
  burst50,
  conflict,
  later,
  restart,
  failure,
  crash,
  tampered,
  unsigned,
  forged,
  mangled,
  stale,
  spelling,
  slowClient,
  order,
  answerTime,
]

export interface Examination {
  readonly trials: readonly Trial[]
  /** At most. */
  readonly requests: number
  run(onTrial?: (trial: Trial, done: TrialReport | null) => void): Promise<Report>
}

export function examination(options: ExamineOptions): Examination {
  const url = targetUrl(options.url, 'The endpoint', options.owned ?? false)
  if (options.fault !== undefined) targetUrl(options.fault, 'The fault URL', options.owned ?? false)
  if (options.probe !== undefined) targetUrl(options.probe, 'The probe URL', true)
  const chosen = choose(options.only)
  const met = needsMet(options)
  const runs = (trial: Trial) => (trial.needs ?? []).every((need) => met.has(need))
  return {
    trials: chosen,
    requests: chosen.filter(runs).reduce((sum, trial) => sum + trial.requests, 0),
    run: (onTrial = () => {}) => runAll(options, url, chosen, met, onTrial),
  }
}

async function runAll(
  options: ExamineOptions,
  url: URL,
  chosen: readonly Trial[],
  met: ReadonlySet<Need>,
  onTrial: (trial: Trial, done: TrialReport | null) => void,
): Promise<Report> {
  const startedAt = new Date()
  const startedMs = performance.now()
  const exam = new Exam(options, url)
  const reports: TrialReport[] = []
  const leftOut: { name: string; because: string }[] = []
  for (const trial of chosen) {
    onTrial(trial, null)
    const trialStartedMs = performance.now()
    const requestsBefore = exam.requests
    const found = await runTrial(trial, exam, met, reports[0])
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
      requests: exam.requests - requestsBefore,
      durationMs: Math.round(performance.now() - trialStartedMs),
    }
    reports.push(report)
    onTrial(trial, report)
  }
  const count = (result: Finding['result']) => reports.filter((report) => report.result === result).length
  const failed = count('fail')
  return {
    url: withoutCredentials(url),
    provider: options.source.key,
    type: exam.sender.type,
    ok: failed === 0 && !(options.strict && count('unknown') > 0),
    passed: count('pass'),
    failed,
    unknown: count('unknown'),
    faults: faultsIn(reports),
    trials: reports,
    leftOut,
    requests: exam.requests,
    answerTimes: answerTimes(exam.answers),
    startedAt: startedAt.toISOString(),
    durationMs: Math.round(performance.now() - startedMs),
  }
}

/** A text is the reason why the trial does not apply to this sender. */
async function runTrial(
  trial: Trial,
  exam: Exam,
  met: ReadonlySet<Need>,
  first: TrialReport | undefined,
): Promise<Finding | string> {
  if (first?.fault === 'unreachable' || first?.fault === 'rejects_valid')
    return unknown('Skipped: the endpoint does not accept a valid event.')
  const missing = (trial.needs ?? []).filter((need) => !met.has(need))
  if (missing.length > 0)
    return unknown(`Skipped: needs ${missing.map((need) => flags[need]).join(' and ')}.`)
  try {
    return await trial.run(exam)
  } catch (error) {
    // A probe or command that fails in the first trial is a mistake of the caller; a later failure is an observation.
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
  const unknownName = only.find((name) => !trials.some((trial) => trial.name === name))
  if (unknownName !== undefined)
    throw invalid(
      '--only',
      `has no trial "${unknownName}"; known trials: ${trials.map(({ name }) => name).join(', ')}`,
    )
  return trials.filter((trial, i) => i === 0 || only.includes(trial.name))
}

function faultsIn(reports: readonly TrialReport[]): Report['faults'] {
  const found = new Set(reports.flatMap(({ fault }) => (fault === null ? [] : [fault])))
  return (Object.keys(faults) as Fault[])
    .filter((fault) => found.has(fault))
    .map((fault) => ({ fault, ...faults[fault] }))
}

/** The query may contain a credential too. */
function withoutCredentials(url: URL): string {
  return `${url.origin}${url.pathname}`
}
