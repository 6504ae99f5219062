/** Senders on keep-alive connections, and an outside ledger of what they were told. */
import { Agent, request } from 'node:http'

export interface LedgerEntry {
  readonly id: string
  /** The answer; null = none came. */
  readonly httpStatus: number | null
  readonly problem: string | null
}

export interface Load {
  readonly ledger: LedgerEntry[]
  /** Resolves when so many have been answered, and every sender has heard of one. */
  answered(count: number): Promise<void>
  /** No sender begins another delivery. */
  stop(): void
  /** Resolves when every sender has stopped: its server said goodbye, or `stop` was called. */
  readonly ended: Promise<void>
}

/**
 * Each of `connections` senders has one connection and sends one delivery after the other on it until it is told to close,
 * with `pauseMs` between them.
 */
export function startLoad(url: string, connections: number, prefix = 'load', pauseMs = 0): Load {
  const ledger: LedgerEntry[] = []
  const waiting = new Set<() => void>()
  let stopped = false
  let next = 0
  let answeredSenders = 0

  async function sender(): Promise<void> {
    let isNew = true
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      for (;;) {
        if (stopped) return
        const id = `${prefix}-${next++}`
        const { last, ...entry } = await post(agent, url, id)
        ledger.push(entry)
        if (isNew) answeredSenders++
        isNew = false
        for (const check of waiting) check()
        if (last) return
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    } finally {
      agent.destroy()
    }
  }

  return {
    ledger,
    answered: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (ledger.length < count || answeredSenders < connections) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    stop() {
      stopped = true
    },
    ended: Promise.all(Array.from({ length: connections }, sender)).then(() => {}),
  }
}

function post(agent: Agent, url: string, id: string): Promise<LedgerEntry & { last: boolean }> {
  const body = JSON.stringify({ id, type: 'order.paid', note: 'x'.repeat(200) })
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) =>
      resolve({ id, httpStatus: null, problem: error.code ?? error.message, last: true })
    const sent = request(
      `${url}/webhooks/shop`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': body.length },
      },
      (response) => {
        response.resume()
        response.on('error', failed)
        response.on('end', () =>
          resolve({
            id,
            httpStatus: response.statusCode ?? 0,
            problem: null,
            last: response.headers.connection === 'close',
          }),
        )
      },
    )
    sent.on('error', failed)
    sent.end(body)
  })
}
