/** Trials send, count and run commands through their exam. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.js'
import { isLoopbackHost, withoutBrackets } from '../ip.js'
import type { Delivery, Source } from '../provider.js'
import { type Answer, post, postAtOnce, postSlowly } from './post.js'
import { commandProbe, countFrom, type Probe, runCommand, urlProbe } from './probe.js'
import { Sender, type SentEvent } from './sender.js'

export interface ExamineOptions {
  readonly url: string
  readonly source: Source
  /** It should have an effect. */
  readonly type?: string
  /** Required for an endpoint on another machine: the caller confirms that it is theirs. */
  readonly owned?: boolean
  /** A URL that returns the number of effects; `{id}` in it stands for the event id. */
  readonly probe?: string
  /** A command that prints the number of effects of HOOKONCE_EVENT_ID, or of all events. */
  readonly probeCommand?: string
  readonly restartCommand?: string
  /** Kills the endpoint while it handles an event, and starts it again. */
  readonly crashCommand?: string
  /** A POST here makes the endpoint fail the next time it handles the event in `{"event_id": ...}`. */
  readonly fault?: string
  /** Names of trials; `accepts` always runs. Default: all. */
  readonly only?: readonly string[]
  /** For one request. Default 30,000. */
  readonly timeoutMs?: number
  /** Default 10,000. A count that stays unchanged for a tenth of it is final. */
  readonly waitMs?: number
  /** Trials with the result unknown count as failed. */
  readonly strict?: boolean
}

/** Some senders do not document how long they wait. */
const ASSUMED_LIMIT_MS = 10_000
const PIECE_PAUSE_MS = 150
const COMMAND_MS = 60_000
const START_MS = 15_000

export interface WatchedEvent extends SentEvent {
  /** Waits until the count is at least this and no longer changes, or the time is over. Null without a probe. */
  effects(atLeast: number): Promise<number | null>
}

export class Exam {
  readonly sender: Sender
  /** Effects of one event, as counted for the first event. */
  expectedCount = 1
  requests = 0
  /** Answers to valid deliveries. */
  readonly answers: Answer[] = []
  readonly timeLimit: { readonly ms: number; readonly documented: boolean }
  readonly #options: ExamineOptions
  readonly #url: URL
  readonly #timeoutMs: number
  readonly #waitMs: number
  readonly #probe: Probe | null

  constructor(options: ExamineOptions, url: URL) {
    const { source, type, timeoutMs = 30_000, waitMs = 10_000 } = options
    const documentedMs = source.answer.timeLimitMs
    this.#options = options
    this.#url = url
    this.#timeoutMs = timeoutMs
    this.#waitMs = waitMs
    this.#probe = probeOf(options, timeoutMs)
    this.sender = new Sender(source, url, type)
    this.timeLimit = { ms: documentedMs ?? ASSUMED_LIMIT_MS, documented: documentedMs !== null }
  }

  get delayMs(): number {
    return 0.3 * this.#waitMs
  }

  async event(): Promise<WatchedEvent> {
    return this.watch(await this.sender.event())
  }

  async watch(event: SentEvent): Promise<WatchedEvent> {
    // A probe that did not see the effect of the first event counts something else.
    if (this.#probe === null || this.expectedCount === 0) return { ...event, effects: async () => null }
    return { ...event, effects: await countFrom(this.#probe, event.id, this.#waitMs) }
  }

  async deliver(event: SentEvent): Promise<Answer> {
    return this.#answer(await this.send(await this.sender.delivery(event)))
  }

  /** A delivery that need not be valid. */
  send(delivery: Delivery): Promise<Answer> {
    this.requests++
    return post(delivery, this.#timeoutMs)
  }

  async deliverAtOnce(event: SentEvent, times: number): Promise<Answer[]> {
    const deliveries = await Promise.all(Array.from({ length: times }, () => this.sender.delivery(event)))
    this.requests += times
    return (await postAtOnce(deliveries, this.#timeoutMs)).map((answer) => this.#answer(answer))
  }

  async deliverSlowly(event: SentEvent): Promise<Answer> {
    const delivery = await this.sender.delivery(event)
    this.requests++
    return this.#answer(await postSlowly(delivery, PIECE_PAUSE_MS, this.#timeoutMs))
  }

  restart(event: SentEvent): Promise<void> {
    return this.#run(this.#options.restartCommand!, 'The restart command', event)
  }

  crash(event: SentEvent): Promise<void> {
    return this.#run(this.#options.crashCommand!, 'The crash command', event)
  }

  async fault(event: SentEvent): Promise<void> {
    const body = Buffer.from(JSON.stringify({ event_id: event.id }))
    const headers = { 'content-type': 'application/json' }
    const delivery = { method: 'POST', url: this.#options.fault!, headers, body }
    const answer = await post(delivery, this.#timeoutMs)
    if (answer.status === null || answer.status >= 300)
      throw invalid('The fault URL', `answered ${answer.status ?? answer.problem}; it must answer 2xx`)
  }

  #answer(answer: Answer): Answer {
    this.answers.push(answer)
    return answer
  }

  async #run(command: string, what: string, event: SentEvent): Promise<void> {
    await runCommand(command, what, { HOOKONCE_EVENT_ID: event.id }, COMMAND_MS)
    await untilListening(this.#url, Math.max(this.#waitMs, START_MS))
  }
}

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

/** Refuses other machines, unless the owner of the endpoint confirms that it is theirs. */
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
