import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { answerTo, openRequest, timeLimit } from '../http-exchange.js'
import type { Delivery } from '../provider.js'

export interface Answer {
  readonly httpStatus: number
  /** At most 64 KiB. */
  readonly body: string
  readonly ms: number
}

export interface Poster {
  post(delivery: Delivery, timeoutMs?: number): Promise<Answer>
  close(): void
}

export function createPoster(concurrency: number): Poster {
  const agents = {
    http: new Agent({ keepAlive: true, maxSockets: concurrency }),
    https: new HttpsAgent({ keepAlive: true, maxSockets: concurrency }),
  }
  return {
    async post(delivery, timeoutMs = 30_000) {
      const startedAt = performance.now()
      const limit = timeLimit(timeoutMs)
      try {
        const agent = delivery.url.startsWith('https:') ? agents.https : agents.http
        const request = openRequest(delivery, agent)
        request.end(delivery.body)
        const { httpStatus, body } = await answerTo(request, limit)
        return { httpStatus, body: body.toString('utf8'), ms: performance.now() - startedAt }
      } finally {
        limit.clear()
      }
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'no answer in time',
}

/** An AggregateError has one error for each address that was tried. */
export function whyNoAnswer(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code, message } = first as NodeJS.ErrnoException
  return causes[code ?? ''] ?? message
}
