/**
 * Lines to standard error or standard output that never cost the process its life. The reader of a log may be gone
 * (EPIPE), its disk may be full (ENOSPC), or it may have stopped reading: a line that cannot be written is dropped and
 * counted, and the count is written when lines go through again.
 */
import { fstatSync, writeSync } from 'node:fs'

/** A reader that has stopped costs at most this much memory. */
const MOST_WAITING_BYTES = 1024 * 1024

export type LineStream = NodeJS.WriteStream & { readonly fd: number }

const tolerant = new WeakSet<NodeJS.WriteStream>()

/** Errors of this stream are nobody's end from now on. Node ends a process whose stream has an error and no listener. */
export function tolerateErrors(stream: NodeJS.WriteStream): void {
  if (tolerant.has(stream)) return
  tolerant.add(stream)
  stream.on('error', () => {})
}

/** `dropped` makes the line that tells how many before it were dropped. */
export function lineWriter(stream: LineStream, dropped: (count: number) => string): (line: string) => void {
  const put = isPiped(stream) ? pipePut(stream) : filePut(stream)
  let lost = 0
  return (line) => {
    if (lost > 0 && put(dropped(lost))) lost = 0
    if (lost > 0 || !put(line)) lost++
  }
}

function pipePut(stream: LineStream): (text: string) => boolean {
  tolerateErrors(stream)
  return (text) => {
    if (stream.destroyed || stream.errored || stream.writableLength > MOST_WAITING_BYTES) return false
    stream.write(text)
    return true
  }
}

/** Not through the stream: Node destroys it at the first full disk, and a disk may have room again. */
function filePut({ fd }: LineStream): (text: string) => boolean {
  return (text) => {
    try {
      writeSync(fd, text)
      return true
    } catch {
      return false
    }
  }
}

/** A pipe, a socket or a terminal; a stream that cannot be looked at counts as one. */
function isPiped(stream: LineStream): boolean {
  if (stream.isTTY) return true
  try {
    const kind = fstatSync(stream.fd)
    return kind.isFIFO() || kind.isSocket()
  } catch {
    return true
  }
}
