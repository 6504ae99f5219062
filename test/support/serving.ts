/** Servers for tests: started on a free port, closed after the case. */
import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Delivery, Inbox, Source } from 'hookonce'
import { createServer, type HookonceServer, type ServerOptions, type Token } from 'hookonce/server'
import { onTestFinished } from 'vitest'

/** Runs after the case, the last one first. */
export function afterwards(cleanup: () => Promise<unknown>): void {
  onTestFinished(async () => void (await cleanup()))
}

export interface Served {
  readonly url: string
  readonly port: number
  readonly server: HookonceServer
}

export async function serving(inbox: Inbox, options: ServerOptions = {}): Promise<Served> {
  const server = createServer(inbox, { port: 0, admin: false, ...options })
  afterwards(() => server.close({ deadline: 500 }))
  const { url, port } = await server.listen()
  return { url, port, server }
}

export function tokenOf(text: string, role: Token['role'] = 'admin', name: string = role): Token {
  return { name, role, sha256: createHash('sha256').update(text).digest('hex') }
}

export async function signed(source: Source, id?: string, type?: string): Promise<Delivery> {
  const sample = source.sample({ now: Date.now(), ...(id ? { id } : {}), ...(type ? { type } : {}) })
  return source.sign({ ...sample, now: Date.now() })
}

export function send(
  url: string,
  name: string,
  delivery: Pick<Delivery, 'headers' | 'body'>,
): Promise<Response> {
  return fetch(`${url}/webhooks/${name}`, {
    method: 'POST',
    headers: delivery.headers,
    body: delivery.body,
  })
}

/** A connection that says exactly this. */
export function say(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

/** Everything the other side says until it closes. */
export function heard(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
  })
}
