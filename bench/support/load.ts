/**
 * A load generator over plain sockets: each connection sends a prepared request, waits for its answer, sends the next.
 * It uses little CPU, because it shares the machine with the server under test.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface LoadResult {
  readonly count: number
  readonly perSecond: number
  readonly latenciesMs: Float64Array
}

/** Sends as fast as answers return, until the requests are used up or the time is over. */
export async function load(
  port: number,
  connections: number,
  requests: readonly Buffer[],
  maxMs = Number.POSITIVE_INFINITY,
): Promise<LoadResult> {
  const latencies = new Float64Array(requests.length)
  const statuses: Record<string, number> = {}
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  let next = 0
  let done = 0
  const startedAt = performance.now()
  const endAt = startedAt + maxMs
  await Promise.all(sockets.map(converse))
  const seconds = (performance.now() - startedAt) / 1_000
  for (const socket of sockets) socket.destroy()
  onlyAccepted(statuses)
  return { count: done, perSecond: done / seconds, latenciesMs: latencies.subarray(0, done) }

  function converse(socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentAt = 0
      const send = () => {
        sentAt = performance.now()
        if (next >= requests.length || sentAt > endAt) return resolve()
        socket.write(requests[next++]!)
      }
      failing(socket, reject)
      onAnswer(socket, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1
        latencies[done++] = performance.now() - sentAt
        send()
      })
      send()
    })
  }
}

/**
 * Sends at a constant rate, however slow the answers are, as senders do: request i at i / perSecond. A latency counts from
 * the time at which the request was due, so that a slow server cannot hide its delay by making the sender wait. Continues
 * until the promise of `until`, which is called at the start, resolves or the requests are used up.
 */
export async function steadyLoad(
  port: number,
  perSecond: number,
  requests: readonly Buffer[],
  until: () => Promise<unknown> = () => new Promise(() => {}),
  onSent?: (index: number, dueAt: number) => void,
): Promise<LoadResult> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const free: Socket[] = []
  const dueAts = new Map<Socket, number>()
  const sockets = await Promise.all(Array.from({ length: 64 }, () => open(port)))
  const pacer = new Worker(new URL('./pacer.mjs', import.meta.url), {
    workerData: { perSecond, count: requests.length },
  })
  await once(pacer, 'message')
  const startAt = hrtimeMs()
  pacer.postMessage(startAt)
  let sent = 0
  let due = 0
  let over = false
  try {
    await new Promise<void>((resolve, reject) => {
      pacer.on('error', reject)
      pacer.on('message', (count: number) => {
        if (over) return
        due = count
        pump()
      })
      for (const socket of sockets) {
        failing(socket, reject)
        onAnswer(socket, (status) => {
          statuses[status] = (statuses[status] ?? 0) + 1
          latencies.push(hrtimeMs() - dueAts.get(socket)!)
          free.push(socket)
          pump()
        })
        free.push(socket)
      }
      void until().then(() => {
        over = true
        due = Math.max(1, sent)
        pump()
      })

      function pump(): void {
        while (sent < due && free.length > 0) {
          const socket = free.pop()!
          const dueAt = startAt + (sent * 1_000) / perSecond
          onSent?.(sent, dueAt)
          dueAts.set(socket, dueAt)
          socket.write(requests[sent++]!)
        }
        if ((over || sent === requests.length) && latencies.length === sent) resolve()
      }
    })
  } finally {
    pacer.postMessage(null)
    for (const socket of sockets) socket.destroy()
  }
  onlyAccepted(statuses)
  const seconds = (hrtimeMs() - startAt) / 1_000
  return { count: sent, perSecond: sent / seconds, latenciesMs: Float64Array.from(latencies) }
}

/** The monotonic clock of the machine, which all its processes share. */
export function hrtimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

function failing(socket: Socket, fail: (error: Error) => void): void {
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server closed a connection.')))
}

function onlyAccepted(statuses: Readonly<Record<string, number>>): void {
  if (Object.keys(statuses).some((status) => status !== '200')) {
    throw new Error(`Answers by status: ${JSON.stringify(statuses)}`)
  }
}

/** Calls back with the status of each complete answer, with its body if it is not 200. At most one request is open on a connection. */
function onAnswer(socket: Socket, onStatus: (status: string) => void): void {
  let pending = ''
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1')
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0)
    if (pending.length < end + 4 + length) return
    const status = pending.slice(9, 12)
    const body = pending.slice(end + 4)
    pending = ''
    onStatus(status === '200' ? status : `${status} ${body.slice(0, 200)}`)
  })
}
