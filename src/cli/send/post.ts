/** One HTTP request, as a sender makes it: exact bytes, exact headers, no redirects followed, and the time it took. */
import { Agent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Delivery } from '../../provider.js'

export interface Answer {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  /** At most 64 KiB of it. */
  readonly body: string
  readonly ms: number
}

export interface Poster {
  post(delivery: Delivery, timeoutMs?: number): Promise<Answer>
  close(): void
}

const bodyLimit = 64 * 1024

/** Connections are kept and shared by up to `concurrency` requests at once. */
export function createPoster(concurrency: number): Poster {
  const plainAgent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const secureAgent = new HttpsAgent({ keepAlive: true, maxSockets: concurrency })
  return {
    post: (delivery, timeoutMs = 30_000) =>
      new Promise((resolve, reject) => {
        const url = new URL(delivery.url)
        const secure = url.protocol === 'https:'
        const startedAt = performance.now()
        let answered = false
        const headers = { ...delivery.headers, 'content-length': String(delivery.body.byteLength) }
        const sending = (secure ? httpsRequest : httpRequest)(
          url,
          { method: delivery.method, headers, agent: secure ? secureAgent : plainAgent },
          (response) => {
            answered = true
            const chunks: Buffer[] = []
            let size = 0
            response.on('data', (chunk: Buffer) => {
              if (size < bodyLimit) chunks.push(chunk)
              size += chunk.length
            })
            response.on('error', (error) => {
              clearTimeout(timer)
              reject(error)
            })
            response.on('end', () => {
              clearTimeout(timer)
              resolve({
                httpStatus: response.statusCode ?? 0,
                headers: flat(response.headers),
                body: Buffer.concat(chunks).subarray(0, bodyLimit).toString('utf8'),
                ms: performance.now() - startedAt,
              })
            })
          },
        )
        const timer = setTimeout(
          () => sending.destroy(new Error(`no answer within ${timeoutMs} ms`)),
          timeoutMs,
        )
        sending.on('error', (error) => {
          clearTimeout(timer)
          reject(error)
        })
        // A 101 closes the connection with neither an answer nor an error.
        sending.on('close', () => {
          clearTimeout(timer)
          if (!answered) reject(new Error('the connection was closed without an answer'))
        })
        sending.end(delivery.body)
      }),
    close() {
      plainAgent.destroy()
      secureAgent.destroy()
    },
  }
}

function flat(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
}

/** Why a request got no answer, in words; an AggregateError (IPv4 and IPv6 both refused) has them inside. */
export function whyNoAnswer(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error
  const { code, message } = inner as NodeJS.ErrnoException
  const known: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there',
    ENOTFOUND: 'the host does not exist',
    EAI_AGAIN: 'the name could not be looked up',
    ECONNRESET: 'the connection was reset',
    ETIMEDOUT: 'no answer in time',
  }
  return known[code ?? ''] ?? message
}
