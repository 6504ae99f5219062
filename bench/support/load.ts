/**
 * A load generator over plain sockets: each connection sends a prepared request, waits for its answer, sends the next.
 * It uses little CPU, because it shares the machine with the server under test.
 */
import { connect, type Socket } from 'node:net'

export interface LoadResult {
  readonly perSecond: number
  readonly latenciesMs: Float64Array
  readonly statuses: Readonly<Record<string, number>>
}

export async function load(
  port: number,
  connections: number,
  requests: readonly Buffer[],
): Promise<LoadResult> {
  const latencies = new Float64Array(requests.length)
  const statuses: Record<string, number> = {}
  let next = 0
  let done = 0
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, () => converse()))
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: done / seconds, latenciesMs: latencies.subarray(0, done), statuses }

  function converse(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let sentAt = 0
      const send = () => {
        if (next >= requests.length) {
          socket.end()
          return resolve()
        }
        sentAt = performance.now()
        socket.write(requests[next++]!)
      }
      socket.on('connect', send)
      socket.on('error', reject)
      onAnswer(socket, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        latencies[done++] = performance.now() - sentAt
        send()
      })
    })
  }
}

/**
 * The same at a constant rate, however slow the answers are, as senders do. Continues until `until` resolves or the
 * requests are used up.
 */
export async function steadyLoad(
  port: number,
  perSecond: number,
  requests: readonly Buffer[],
  until: Promise<unknown>,
): Promise<LoadResult> {
  let over = false
  void until.then(() => {
    over = true
  })
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const free: ((item: { request: Buffer; dueAt: number }) => void)[] = []
  const waiting: { request: Buffer; dueAt: number }[] = []
  const sockets = await Promise.all(Array.from({ length: 64 }, open))
  const startedAt = performance.now()
  let sent = 0
  while (!over && sent < requests.length) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond)
    while (sent < due && sent < requests.length) {
      waiting.push({ request: requests[sent]!, dueAt: startedAt + (sent / perSecond) * 1000 })
      sent++
    }
    pump()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  while (latencies.length < sent) await new Promise((resolve) => setTimeout(resolve, 1))
  for (const socket of sockets) socket.destroy()
  const seconds = (performance.now() - startedAt) / 1000
  return { perSecond: sent / seconds, latenciesMs: Float64Array.from(latencies), statuses }

  function pump(): void {
    while (free.length > 0 && waiting.length > 0) free.pop()!(waiting.shift()!)
  }

  function open(): Promise<ReturnType<typeof connect>> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      let dueAt = 0
      const take = (item: { request: Buffer; dueAt: number }) => {
        dueAt = item.dueAt
        socket.write(item.request)
      }
      socket.on('error', reject)
      socket.on('connect', () => {
        free.push(take)
        resolve(socket)
      })
      onAnswer(socket, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        latencies.push(performance.now() - dueAt)
        free.push(take)
        pump()
      })
    })
  }
}

/** Calls back with the status of each complete answer. At most one request is open on a connection. */
function onAnswer(socket: Socket, onStatus: (status: string) => void): void {
  let pending = ''
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0)
    if (pending.length < end + 4 + length) return
    const status = pending.slice(9, 12)
    pending = ''
    onStatus(status)
  })
}

export function httpRequest(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Buffer {
  const head = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': String(body.byteLength) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`), body])
}
