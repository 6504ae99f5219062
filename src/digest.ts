import { hash } from 'node:crypto'

/** SHA-256 with the one-shot function: half the time of a Hash object for 1 kB. A text is its UTF-8 bytes. */
export function sha256(content: string | Uint8Array): Buffer {
  return hash('sha256', content, 'buffer')
}
