/** Requests in progress, and input that Node cannot parse as a request. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Receipt } from '../intake/answer.js'
import type { EarlyRefusal } from '../intake/receive.js'

export interface Requests {
  begin(response: ServerResponse): void
  /** From now on, every response closes its connection. */
  closeAfter(): void
  /** Whether a response is in progress on this connection. */
  isBusy(socket: Duplex): boolean
  /** Whether a request was in progress within the last seconds. */
  readonly recentlyBusy: boolean
  /** Resolves when no request is in progress. */
  ended(): Promise<void>
}

const RECENT_MS = 5_000

export function createRequests(): Requests {
  const inProgress = new Set<ServerResponse>()
  /**
   * A pipelined response that waits for another gets no `close` event when its connection closes, so it is ended here.
   */
  const bySocket = new WeakMap<Duplex, Set<ServerResponse>>()
  let closing = false
  let lastAt = Number.NEGATIVE_INFINITY
  let waiting: (() => void)[] = []

  function end(response: ServerResponse): void {
    bySocket.get(response.req.socket)?.delete(response)
    if (!inProgress.delete(response)) return
    lastAt = performance.now()
    if (inProgress.size > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
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
    begin(response) {
      inProgress.add(response)
      ofSocket(response.req.socket).add(response)
      if (closing) response.shouldKeepAlive = false
      response.once('close', onClose)
    },
    closeAfter() {
      closing = true
      // A response whose headers are sent already leaves an idle connection, which is closed with the idle ones.
      for (const response of inProgress) response.shouldKeepAlive = false
    },
    isBusy: (socket) => (bySocket.get(socket)?.size ?? 0) > 0,
    get recentlyBusy() {
      return inProgress.size > 0 || performance.now() - lastAt < RECENT_MS
    },
    ended: () =>
      inProgress.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
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
    // A response in progress must not get a second response written into it.
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
