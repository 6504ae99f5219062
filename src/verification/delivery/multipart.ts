/** The bytes of one named field of a multipart/form-data body: enough for senders that put one JSON text in it. */
import { mediaType } from './form.js'

const maxParts = 64

/** Null when the body is not multipart, or does not hold the field exactly once. */
export function multipartField(
  body: Uint8Array,
  contentType: string | undefined,
  name: string,
): Uint8Array | null {
  if (mediaType(contentType) !== 'multipart/form-data') return null
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(contentType ?? '')
  if (boundary === null) return null
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const mark = `--${boundary[1] ?? boundary[2]}`
  let found: Uint8Array | null = null
  let at = bytes.indexOf(mark)
  for (let count = 0; at >= 0 && count < maxParts; count += 1) {
    const from = at + mark.length + 2
    const next = bytes.indexOf(`\r\n${mark}`, from - 2)
    if (next < 0) return found
    const headEnd = bytes.indexOf('\r\n\r\n', from - 2)
    if (headEnd >= 0 && headEnd < next && fieldName(bytes.toString('latin1', from, headEnd)) === name) {
      if (found !== null) return null
      found = bytes.subarray(headEnd + 4, next)
    }
    at = next + 2
  }
  return found
}

function fieldName(head: string): string | null {
  for (const line of head.split('\r\n', 16)) {
    if (!/^content-disposition:/i.test(line)) continue
    return /;\s*name="([^"]{0,200})"/i.exec(line)?.[1] ?? null
  }
  return null
}
