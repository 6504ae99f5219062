/** What Node cannot hand on as a request: not HTTP, headers too long, headers that never end. Answered, counted, cut. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Receipt } from '../intake/answer.js'
import type { EarlyRefusal } from '../intake/receive.js'

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
    // An answer that is under way must not get a second one written into it.
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
