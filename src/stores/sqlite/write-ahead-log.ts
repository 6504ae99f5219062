/**
 * Notices that another program has cut the write-ahead log of an open database. SQLite does not: it writes the next
 * frames where the last ones ended, and the next process that opens the log reads nothing behind the gap.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

export interface WriteAheadLog {
  /** Call it under the write lock. False = frames of the last commit are gone. */
  begin(size: number): boolean
  /** False = there is a gap before the frames of this commit. */
  committed(size: number): boolean
  close(): void
}

/** sqlite.org/fileformat.html, section 4: a header, then frames with a header and a page each. */
const HEADER = 32
const FRAME_HEADER = 24
const PAGE_SIZE_AT = 8
const SALT_AT = 16
const MAGIC = 0x377f0682

/** SQLite has no locks on this file, so opening and closing it does not drop any. */
export function writeAheadLog(path: string): WriteAheadLog {
  let descriptor: number | null = null
  let before = 0
  /** The end and the salt after the last commit that made the file longer. SQLite changes the salt when it starts over. */
  let last: { readonly size: number; readonly salt: string } | null = null

  function bytesAt(position: number, length: number): Buffer {
    descriptor ??= openSync(path, 'r')
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
  }

  const saltOf = (header: Buffer) => header.toString('hex', SALT_AT, HEADER - 8)

  return {
    begin(size) {
      before = size
      if (last === null || size >= last.size) return true
      const isSameLog = saltOf(bytesAt(0, HEADER)) === last.salt
      if (!isSameLog) last = null
      return !isSameLog
    },
    committed(size) {
      if (size <= before) return true
      const header = bytesAt(0, HEADER)
      // Shorter: another connection has emptied the log after this commit.
      if (header.byteLength < HEADER) return true
      if ((header.readUInt32BE(0) | 1) >>> 0 !== MAGIC + 1) return false
      // Read after the salt. Another program may have emptied the log since `size` was read: with the salt of the new log
      // it would look as if the new log had been cut.
      last = { size: fstatSync(descriptor!).size, salt: saltOf(header) }
      const frame = FRAME_HEADER + header.readUInt32BE(PAGE_SIZE_AT)
      // A process that was killed may have left a part of a frame, which this commit has overwritten.
      const from = before < HEADER ? HEADER : HEADER + Math.ceil((before - HEADER) / frame) * frame
      const first = bytesAt(from, FRAME_HEADER)
      return first.byteLength < FRAME_HEADER || first.some((byte) => byte !== 0)
    },
    close() {
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}
