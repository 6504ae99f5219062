/** Requests in progress, and input that Node cannot parse as a request. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Receipt } from '../intake/answer.js'
import type { EarlyRefusal } from '../intake/receive.js'

export interface Requests {
  begin(response: ServerResponse): void
  /** Every answer from now on ends its connection. */
  closeAfter(): void
  /** Whether an answer is under way on this connection. */
  isBusy(socket: Duplex): boolean
  /** Whether one was under way within the last seconds. */
  readonly wereLately: boolean
  /** Resolves when none is under way. */
  ended(): Promise<void>
}

const LATELY_MS = 5_000

export function createRequests(): Requests {
  const underWay = new Set<ServerResponse>()
  /** An answer that waits behind another on its connection hears nothing when that connection closes: we tell it. */
  const bySocket = new WeakMap<Duplex, Set<ServerResponse>>()
  let last = false
  let lastAt = Number.NEGATIVE_INFINITY
  let waiting: (() => void)[] = []

  function end(response: ServerResponse): void {
    bySocket.get(response.req.socket)?.delete(response)
    if (!underWay.delete(response)) return
    lastAt = performance.now()
    if (underWay.size > 0) return
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
      underWay.add(response)
      ofSocket(response.req.socket).add(response)
      if (last) response.shouldKeepAlive = false
      response.once('close', onClose)
    },
    closeAfter() {
      last = true
      // One whose headers are out already leaves an idle connection behind, which is closed as such.
      for (const response of underWay) response.shouldKeepAlive = false
    },
    isBusy: (socket) => (bySocket.get(socket)?.size ?? 0) > 0,
    get wereLately() {
      return underWay.size > 0 || performance.now() - lastAt < LATELY_MS
    },
    ended: () => (underWay.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
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
