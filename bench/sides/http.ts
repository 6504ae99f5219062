/** The parts of a webhook route that every compared server needs, in their shortest form. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SECRET } from '../support/requests.js'

export function readAll(request: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => then(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}

export function reply(response: ServerResponse, value: object): void {
  const body = JSON.stringify(value)
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
}

export function signatureIsGood(request: IncomingMessage, body: Buffer): boolean {
  const match = /t=(\d+),v1=([0-9a-f]{64})/.exec(String(request.headers['stripe-signature']))
  if (!match) return false
  const expected = createHmac('sha256', SECRET).update(`${match[1]}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(match[2]!, 'hex'))
}

export interface Checked {
  readonly id: string
  readonly type: string
  readonly body: Buffer
  readonly contentHash: Buffer
}

/** node:http with the checks of a webhook route; `store` resolves when the event is safe. */
export function checkedServer(store: (event: Checked) => Promise<void> | undefined): Server {
  return createServer((request, response) => {
    readAll(request, (body) => {
      if (!signatureIsGood(request, body)) return void response.writeHead(401).end()
      const { id, type } = JSON.parse(body.toString()) as { id: string; type: string }
      const contentHash = createHash('sha256').update(body).digest()
      const stored = store({ id, type, body, contentHash })
      const accept = () => reply(response, { status: 'accepted', event_id: id })
      if (stored === undefined) accept()
      else
        stored.then(accept, (error) => {
          console.error(error)
          response.writeHead(500, { 'content-length': 0 }).end()
        })
    })
  })
}
