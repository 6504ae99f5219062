/** A sender's API on a real HTTP server: a shape answers from the events that the sender has sent. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Delivery } from 'hookonce'

export interface SentEvent {
  readonly id: string
  readonly type: string
  readonly occurredAt: number
  /** As it was delivered, or would have been. */
  readonly delivery: Delivery
}

export interface AskedRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Written as JSON; text is sent as it is. */
  readonly body?: unknown
}

export interface SenderShape {
  /** Default: `authorization: Bearer <key>`. */
  isAllowed?(request: AskedRequest, key: string): boolean
  /** Undefined: 404. The events are those that the sender has sent, in the order it did. */
  answer(request: AskedRequest, fake: SenderFake): FakeAnswer | undefined
}

export interface SenderFake {
  readonly url: string
  readonly key: string
  readonly events: SentEvent[]
  /** In order, with those that were refused. */
  readonly requests: AskedRequest[]
  /** Ids of events that the sender was asked to deliver again. */
  readonly redelivered: string[]
  /** Answers of the next requests, instead of those of the shape. `hang`: the connection is cut without an answer. */
  readonly next: (FakeAnswer | 'hang' | undefined)[]
  /** Runs before each answer. */
  before: (request: AskedRequest) => void
  close(): Promise<void>
}

export async function startSenderFake(shape: SenderShape, key: string): Promise<SenderFake> {
  const isAllowed =
    shape.isAllowed ?? ((request, wanted) => request.headers.authorization === `Bearer ${wanted}`)
  const server = createServer((incoming, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const url = new URL(incoming.url ?? '/', 'http://fake')
      const request: AskedRequest = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      }
      fake.requests.push(request)
      fake.before(request)
      const planned = fake.next.shift()
      if (planned === 'hang') return void incoming.socket.destroy()
      const refusal: FakeAnswer = { status: 401, body: { error: { message: 'Invalid API key' } } }
      const answer = planned ?? (isAllowed(request, key) ? shape.answer(request, fake) : refusal)
      const {
        status = 200,
        headers = {},
        body = null,
      } = answer ?? { status: 404, body: { message: 'Not Found' } }
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })().catch((error) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fake: SenderFake = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    events: [],
    requests: [],
    redelivered: [],
    next: [],
    before: () => {},
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return fake
}
