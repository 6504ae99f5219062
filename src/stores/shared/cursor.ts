/** The cursor of a list: the last seq seen, opaque so that nobody builds one by hand and comes to rely on its shape. */
import { invalid } from '../../errors.js'

export function encodeCursor(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url')
}

/** The seq a cursor stands for. INVALID_INPUT for anything `encodeCursor` did not make. */
export function decodeCursor(text: string): number {
  const digits = Buffer.from(String(text), 'base64url').toString('latin1')
  const seq = Number(digits)
  if (!/^[1-9]\d{0,15}$/.test(digits) || !Number.isSafeInteger(seq) || encodeCursor(seq) !== text) {
    throw invalid('cursor', 'must be the value that a page of this list returned')
  }
  return seq
}
