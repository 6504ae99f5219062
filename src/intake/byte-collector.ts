/**
 * The pieces of a body as one run of bytes. A sender decides how small the pieces are, and each costs an object of a
 * hundred bytes and more: small ones are copied together, so that a body never takes much more than its size.
 */
const SMALL_BYTES = 4_096
const BLOCK_BYTES = 16_384

export interface ByteCollector {
  add(piece: Uint8Array): void
  whole(): Uint8Array
}

export function collectBytes(): ByteCollector {
  const pieces: Uint8Array[] = []
  let block: Uint8Array | null = null
  let filled = 0

  function closeBlock(): void {
    if (block !== null) pieces.push(block.subarray(0, filled))
    block = null
    filled = 0
  }

  return {
    add(piece) {
      // Most bodies are one piece, and are not copied at all.
      if (piece.byteLength > SMALL_BYTES || (pieces.length === 0 && block === null)) {
        closeBlock()
        pieces.push(piece)
        return
      }
      if (filled + piece.byteLength > BLOCK_BYTES) closeBlock()
      block ??= new Uint8Array(BLOCK_BYTES)
      block.set(piece, filled)
      filled += piece.byteLength
    },
    whole() {
      closeBlock()
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
    },
  }
}
