/** The means of the trials of one examination, made from the caller's options: deliveries, counts, commands. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.js'
import { isLoopbackHost, withoutBrackets } from '../ip.js'
import type { Source } from '../provider.js'
import { type Answer, post, postAtOnce, postSlowly } from './post.js'
import { commandProbe, countFrom, type Probe, runCommand, urlProbe } from './probe.js'
import { createSender, type SentEvent } from './sender.js'
import type { Exam } from './trial.js'

export interface ExamineOptions {
  readonly url: string
  readonly source: Source
  /** The event type to send; it should be one that has an effect. */
  readonly type?: string
  /** Confirms that an endpoint on another machine belongs to the caller. */
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
  /** Names of trials; `accepts` always runs. Default: all. */
  readonly only?: readonly string[]
  /** The time limit of one request. Default 30,000. */
  readonly timeoutMs?: number
  /** How long to wait for an effect. Default 10,000. A count that stays unchanged for a tenth of it is final. */
  readonly waitMs?: number
  /** Trials with the result unknown count as failed. */
  readonly strict?: boolean
}

/** For senders that do not document how long they wait. */
const ASSUMED_LIMIT_MS = 10_000
const PIECE_PAUSE_MS = 150
const COMMAND_MS = 60_000
const START_MS = 15_000

/** The deliveries so far, for the report. */
export interface Sent {
  requests: number
  /** The answers to valid deliveries. */
  readonly answers: Answer[]
}

export function createExam(options: ExamineOptions, url: URL, sent: Sent): Exam {
  const { timeoutMs = 30_000, waitMs = 10_000 } = options
  const probe = probeOf(options, timeoutMs)
  const sender = createSender(options.source, url, options.type)
  const documentedMs = options.source.answer.timeLimitMs

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
    await untilListening(url, Math.max(waitMs, START_MS))
  }
  const exam: Exam = {
    sender,
    expectedCount: 1,
    delayMs: 0.3 * waitMs,
    answers: sent.answers,
    timeLimit: { ms: documentedMs ?? ASSUMED_LIMIT_MS, documented: documentedMs !== null },
    deliver: async (event) => valid(1, post(await sender.delivery(event), timeoutMs)),
    send: (delivery) => counted(1, post(delivery, timeoutMs)),
    deliverAtOnce: (deliveries) => valid(deliveries.length, postAtOnce(deliveries, timeoutMs)),
    deliverSlowly: (delivery) => valid(1, postSlowly(delivery, PIECE_PAUSE_MS, timeoutMs)),
    async count(event) {
      // A probe that did not see the effect of the first event counts something else.
      return probe && exam.expectedCount > 0 ? countFrom(probe, event.id, waitMs) : null
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

/** Waits until the endpoint accepts connections again. */
async function untilListening(url: URL, withinMs: number): Promise<void> {
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
    const socket = connect({ port, host: withoutBrackets(url.hostname), timeout: 1_000 })
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

const OWNER_FLAG = '--i-own-this-endpoint'

/** An examination goes to this machine only, unless the owner of the endpoint confirms that it is theirs. */
export function targetUrl(text: string, what: string, owned: boolean): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw invalid(what, `must be a whole URL such as http://localhost:3000/webhooks/stripe, not "${text}"`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(what, `must begin with http: or https:, not ${url.protocol}`)
  if (!owned && !isLoopback(url.hostname)) {
    throw invalid(
      what,
      `is not on this machine (${url.hostname}). The check sends forged and repeated test events, so run it only against an endpoint of your own, and confirm that with ${OWNER_FLAG}`,
    )
  }
  return url
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  return host.endsWith('.localhost') || isLoopbackHost(host)
}
