/** An HTTP endpoint that records what it is sent and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Arrival {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Endpoint {
  readonly url: string
  readonly port: number
  readonly arrivals: Arrival[]
  /** Connections it has accepted. */
  readonly connections: () => number
  answer: (arrival: Arrival, response: ServerResponse, request: IncomingMessage) => void
  close(): Promise<void>
}

export async function startEndpoint(host = '127.0.0.1'): Promise<Endpoint> {
  const arrivals: Arrival[] = []
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', method = '', headers } = request
      const arrival = { path, method, headers, body: Buffer.concat(chunks) }
      arrivals.push(arrival)
      endpoint.answer(arrival, response, request)
    })
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const endpoint: Endpoint = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/hook?token=hidden`,
    port,
    arrivals,
    connections: () => connections,
    answer: (_arrival, response) => void response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
  return endpoint
}

/** Answers with a status and nothing else. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Endpoint['answer'] {
  return (_arrival, response) => void response.writeHead(code, headers).end()
}
