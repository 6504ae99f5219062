/** What the trials of one examination work with, made of the caller's options. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.js'
import type { Source } from '../provider.js'
import { runCommand } from './command.js'
import { type Answer, post, postAtOnce, postSlowly } from './post.js'
import { commandProbe, countFrom, type Patience, type Probe, urlProbe } from './probe.js'
import { createSender, type SentEvent } from './sender.js'
import type { Exam } from './trial.js'

export interface ExamineOptions {
  readonly url: string
  readonly source: Source
  /** The same provider with another secret. */
  readonly forger: Source
  /** The event type to send; it should be one that has an effect. */
  readonly type?: string
  /** Says that an endpoint on another machine is the caller's own. */
  readonly owned?: boolean
  /** A URL that gives the number of effects; `{id}` in it stands for the event id. */
  readonly probe?: string
  /** A command that prints the number of effects of HOOKONCE_EVENT_ID, or of all events. */
  readonly probeCommand?: string
  /** Restarts the endpoint and returns. */
  readonly restartCommand?: string
  /** Kills the endpoint while it handles an event, starts it again, and returns. */
  readonly crashCommand?: string
  /** A POST here makes the endpoint fail the next time it handles the event in `{"event_id": ...}`. */
  readonly fault?: string
  /** Names of trials; `accepts` is always held. Default: all. */
  readonly only?: readonly string[]
  /** For one request. Default 30,000. */
  readonly timeoutMs?: number
  /** How long a count of effects must stand still. Default 1,000. */
  readonly settleMs?: number
  /** How long to wait for an effect. Default 10,000. */
  readonly waitMs?: number
  /** How long `later` waits. Default 3,000. */
  readonly delayMs?: number
  /** Instead of the sender's own limit for an answer. */
  readonly timeLimitMs?: number
  /** What is unknown counts as failed. */
  readonly strict?: boolean
}

/** Where a sender does not say how long it waits. */
const ASSUMED_LIMIT_MS = 10_000
const PIECE_PAUSE_MS = 150
const COMMAND_MS = 60_000
const START_MS = 15_000

/** What was sent so far, for the report. */
export interface Sent {
  requests: number
  /** To valid deliveries. */
  readonly answers: Answer[]
}

export function createExam(options: ExamineOptions, url: URL, sent: Sent): Exam {
  const { timeoutMs = 30_000, settleMs = 1_000, waitMs = 10_000, delayMs = 3_000 } = options
  const patience: Patience = { settleMs, waitMs }
  const probe = probeOf(options, timeoutMs)
  const sender = createSender(options.source, options.forger, url, options.type)
  const documentedMs = options.timeLimitMs ?? options.source.answer.timeLimitMs

  async function counted<T extends Answer | Answer[]>(requests: number, answering: Promise<T>): Promise<T> {
    sent.requests += requests
    return answering
  }
  async function valid<T extends Answer | Answer[]>(requests: number, answering: Promise<T>): Promise<T> {
    const answers = await counted(requests, answering)
    sent.answers.push(...[answers].flat())
    return answers
  }
  const command = (text: string | undefined, what: string) => async (event: SentEvent) => {
    if (text === undefined) return
    await runCommand(text, what, { HOOKONCE_EVENT_ID: event.id }, COMMAND_MS)
    await listening(url, Math.max(waitMs, START_MS))
  }
  const exam: Exam = {
    sender,
    unit: 1,
    delayMs,
    answers: sent.answers,
    timeLimit: { ms: documentedMs ?? ASSUMED_LIMIT_MS, documented: documentedMs !== null },
    deliver: async (event) => valid(1, post(await sender.delivery(event), timeoutMs)),
    send: (delivery) => counted(1, post(delivery, timeoutMs)),
    together: (deliveries) => valid(deliveries.length, postAtOnce(deliveries, timeoutMs)),
    slowly: (delivery) => valid(1, postSlowly(delivery, PIECE_PAUSE_MS, timeoutMs)),
    async count(event) {
      // A probe that has not seen the first event's effect counts something else.
      return probe && exam.unit > 0 ? countFrom(probe, event.id, patience) : null
    },
    restart: command(options.restartCommand, 'The restart command'),
    crash: command(options.crashCommand, 'The crash command'),
    async fault(event) {
      const body = Buffer.from(JSON.stringify({ event_id: event.id }))
      const headers = { 'content-type': 'application/json' }
      const answer = await post({ method: 'POST', url: options.fault!, headers, body }, timeoutMs)
      if (answer.status === null || answer.status >= 300)
        throw invalid('The fault URL', `answered ${answer.status ?? answer.problem}; it must answer 2xx`)
    },
  }
  return exam
}

/** Until it takes connections again. */
async function listening(url: URL, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs
  while (!(await connects(url))) {
    if (performance.now() > until)
      throw invalid('The endpoint', `accepted no connection within ${withinMs} ms after the command`)
    await sleep(50)
  }
}

function connects(url: URL): Promise<boolean> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return new Promise((resolve) => {
    const socket = connect({ port, host: url.hostname.replace(/^\[|\]$/g, ''), timeout: 1_000 })
    const end = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}

function probeOf(options: ExamineOptions, timeoutMs: number): Probe | null {
  if (options.probe !== undefined && options.probeCommand !== undefined)
    throw invalid('The probe', 'must be either a URL or a command, not both')
  if (options.probe !== undefined) return urlProbe(options.probe, timeoutMs)
  return options.probeCommand === undefined ? null : commandProbe(options.probeCommand, timeoutMs)
}
