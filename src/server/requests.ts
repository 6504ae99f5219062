import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Receipt } from '../intake/answer.js'
import type { EarlyRefusal } from '../intake/receive.js'

export interface Requests {
  begin(response: ServerResponse, user: object): void
  /** Closes each connection after its response, from now on. */
  closeAfter(): void
  isBusy(socket: Duplex): boolean
  readonly recentlyBusy: boolean
  ended(user: object): Promise<void>
}

const RECENT_MS = 5_000

export function createRequests(): Requests {
  const inProgress = new Map<ServerResponse, object>()
  /** Ends pipelined responses: one that waits for another gets no `close` event when its connection closes. */
  const bySocket = new WeakMap<Duplex, Set<ServerResponse>>()
  let closing = false
  let lastAt = Number.NEGATIVE_INFINITY
  let waiting: { readonly user: object; resolve(): void }[] = []

  function end(response: ServerResponse): void {
    bySocket.get(response.req.socket)?.delete(response)
    if (!inProgress.delete(response)) return
    lastAt = performance.now()
    if (waiting.length > 0) notifyWaiting()
  }

  function isInUse(user: object): boolean {
    for (const other of inProgress.values()) if (other === user) return true
    return false
  }

  function notifyWaiting(): void {
    const over = waiting.filter(({ user }) => !isInUse(user))
    waiting = waiting.filter((waiter) => !over.includes(waiter))
    for (const { resolve } of over) resolve()
  }

  function onClose(this: ServerResponse): void {
    end(this)
  }

  function ofSocket(socket: Duplex): Set<ServerResponse> {
    const known = bySocket.get(socket)
    if (known) return known
    const own = new Set<ServerResponse>()
    bySocket.set(socket, own)
    socket.once('close', () => {
      for (const response of own) end(response)
    })
    return own
  }

  return {
    begin(response, user) {
      inProgress.set(response, user)
      ofSocket(response.req.socket).add(response)
      if (closing) response.shouldKeepAlive = false
      response.on('close', onClose)
    },
    closeAfter() {
      closing = true
      // A response whose headers are already sent leaves an idle connection, which is closed with the idle ones.
      for (const response of inProgress.keys()) response.shouldKeepAlive = false
    },
    isBusy: (socket) => (bySocket.get(socket)?.size ?? 0) > 0,
    get recentlyBusy() {
      return inProgress.size > 0 || performance.now() - lastAt < RECENT_MS
    },
    ended: (user) =>
      isInUse(user) ? new Promise((resolve) => waiting.push({ user, resolve })) : Promise.resolve(),
  }
}

const refusals: Readonly<Record<string, EarlyRefusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
}

export function onClientError(
  refused: (refusal: EarlyRefusal) => Receipt,
  isBusy: (socket: Duplex) => boolean,
): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const { httpStatus, body } = refused(refusals[error.code ?? ''] ?? 'malformed_request')
    // A second response must not be written into a response in progress.
    if (isBusy(socket)) {
      socket.destroy()
      return
    }
    socket.end(
      `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus]}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      () => socket.destroy(),
    )
  }
}
