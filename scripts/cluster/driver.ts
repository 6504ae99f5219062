/**
 * A sender that trusts nobody: it sends at a steady rate, sends again what was not acknowledged, repeats some of what
 * was, and keeps its own ledger of acknowledgements, flushed to disk before they count.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { Agent, request } from 'node:http'

/** How senders of webhooks behave: they give up on an answer after ten seconds. */
const ANSWER_MS = 10_000
const AGAIN_MS = 500
const MAX_OPEN = 300
/** Every so many acknowledged events are delivered a second time. */
const REPEAT_EVERY = 10

export interface Driver {
  /** The longest time without an acknowledgement since `since` (performance.now()), in seconds. */
  longestGap(since: number): number
  /** The ids in the ledger. */
  acknowledged(): string[]
  readonly answers: ReadonlyMap<string, number>
  /** Acknowledged before the first try of the other one. */
  isBefore(id: string, other: string): boolean
  /** Deliveries that have no acknowledgement yet. */
  readonly open: number
  /** Resolves when so many events were begun. */
  reached(count: number): Promise<void>
  /** Begins no more events, or no more than were asked for; resolves when every event that was begun is acknowledged. */
  finish(): Promise<void>
  stop(): void
}

/** A delivery: the name of its source, and its bytes. */
export interface Sent {
  readonly source: string
  readonly body: string
}

export interface DriverOptions {
  readonly deliveryOf?: (id: string) => Sent
  /** Begin no more than so many events. */
  readonly events?: number
  readonly repeatEvery?: number
}

function shopDelivery(id: string): Sent {
  return { source: 'shop', body: JSON.stringify({ id, type: 'order.paid', ref: id, note: 'x'.repeat(200) }) }
}

export function startDriver(
  group: string,
  urls: readonly string[],
  perSecond: number,
  path: string,
  options: DriverOptions = {},
): Driver {
  const { deliveryOf = shopDelivery, events = Number.POSITIVE_INFINITY, repeatEvery = REPEAT_EVERY } = options
  const ledger = openSync(path, 'a')
  const agent = new Agent({ keepAlive: true })
  const acks: number[] = []
  const answers = new Map<string, number>()
  const begun = new Map<string, number>()
  const acknowledgedAt = new Map<string, number>()
  let pending = ''
  let count = 0
  let next = 0
  let turn = 0
  let open = 0
  let stopped = false

  // One flush for all acknowledgements of a moment.
  const flushing = setInterval(() => {
    if (pending === '') return
    const lines = pending
    pending = ''
    writeSync(ledger, lines)
    fdatasyncSync(ledger)
    acks.push(performance.now())
  }, 20)
  const sending = setInterval(() => {
    if (open < MAX_OPEN && next < events) void deliver(`${group}-${next++}`)
  }, 1_000 / perSecond)

  async function deliver(id: string): Promise<void> {
    open++
    begun.set(id, performance.now())
    while (!stopped) {
      const status = await post(agent, urls[turn++ % urls.length]!, deliveryOf(id))
      answers.set(status, (answers.get(status) ?? 0) + 1)
      if (status.startsWith('2')) {
        pending += `${id}\n`
        acknowledgedAt.set(id, performance.now())
        if (++count % repeatEvery === 0) void post(agent, urls[turn++ % urls.length]!, deliveryOf(id))
        break
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
    open--
  }

  function stop(): void {
    if (stopped) return
    stopped = true
    clearInterval(sending)
    clearInterval(flushing)
    agent.destroy()
    closeSync(ledger)
  }

  return {
    answers,
    isBefore: (id, other) =>
      (acknowledgedAt.get(id) ?? Number.POSITIVE_INFINITY) < (begun.get(other) ?? Number.NEGATIVE_INFINITY),
    get open() {
      return open
    },
    longestGap(since) {
      const moments = [since, ...acks.filter((at) => at > since), performance.now()]
      return Math.max(...moments.slice(1).map((at, i) => at - moments[i]!)) / 1_000
    },
    acknowledged: () => readFileSync(path, 'utf8').split('\n').filter(Boolean),
    async reached(wanted) {
      while (next < wanted && !stopped) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async finish() {
      const giveUpAt = performance.now() + 120_000
      while (Number.isFinite(events) && next < events && performance.now() < giveUpAt)
        await new Promise((resolve) => setTimeout(resolve, 50))
      clearInterval(sending)
      while (open > 0 && performance.now() < giveUpAt) await new Promise((resolve) => setTimeout(resolve, 50))
      await new Promise((resolve) => setTimeout(resolve, 100)) // the last flush
    },
    stop,
  }
}

/** Resolves with the status and the state of the answer, or with the reason why there is none. */
function post(agent: Agent, url: string, { source, body }: Sent): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/webhooks/${source}`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' }, timeout: ANSWER_MS },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text += part
        })
        response.on('end', () =>
          resolve(`${response.statusCode} ${/"status":"(\w+)"/.exec(text)?.[1] ?? '?'}`),
        )
        response.on('error', () => resolve('cut'))
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('late')))
    sent.on('error', (error) => resolve(error.message === 'late' ? 'no answer' : 'cut'))
    sent.end(body)
  })
}
