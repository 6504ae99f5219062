/** The lexical rules of JSON on bytes. A scanner returns the index after the token, or -1 if there is no valid one. */

/**
 * 1 for plain ASCII, 2 for the bytes of other letters, 0 for a quote, a backslash or a control character. The scanner
 * does not use indexOf('"'): it must check every byte, because control characters are invalid, and for the short strings
 * of events the loop is faster.
 */
const plain = new Uint8Array(256)
for (let byte = 0x20; byte < 256; byte += 1)
  plain[byte] = byte === 0x22 || byte === 0x5c ? 0 : byte < 0x80 ? 1 : 2

/**
 * Returns the index of the closing quote; `from` is the byte after the opening one. If the string is not plain ASCII
 * (escapes, other letters), the result is the complement of that index, which is below -1: the reader decodes the string.
 */
export function endOfString(bytes: Uint8Array, from: number): number {
  const at = endOfPlain(bytes, from)
  if (at < bytes.length && bytes[at] === 0x22) return at
  const close = endOfOddString(bytes, at)
  return close < 0 ? -1 : ~close
}

export function endOfPlain(bytes: Uint8Array, from: number): number {
  const end = bytes.length
  let at = from
  while (at < end && plain[bytes[at]!] === 1) at += 1
  return at
}

function endOfOddString(bytes: Uint8Array, from: number): number {
  const end = bytes.length
  let at = from
  for (;;) {
    while (at < end && plain[bytes[at]!] !== 0) at += 1
    if (at >= end) return -1
    const byte = bytes[at]!
    if (byte === 0x22) return at
    if (byte !== 0x5c) return -1
    const escaped = at + 1 < end ? bytes[at + 1]! : 0
    if (escaped === 0x75) {
      if (at + 5 >= end) return -1
      for (let i = at + 2; i < at + 6; i += 1) if (!isHex(bytes[i]!)) return -1
      at += 6
    } else if (simpleEscapes.has(escaped)) at += 2
    else return -1
  }
}

const simpleEscapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))

export function endOfValue(bytes: Uint8Array, from: number): number {
  const first = bytes[from]
  if (first === 0x22) return afterString(bytes, from)
  return first === 0x7b || first === 0x5b ? endOfContainer(bytes, from) : endOfScalar(bytes, from)
}

function endOfScalar(bytes: Uint8Array, from: number): number {
  const first = bytes[from]!
  if (first < 0x66) return endOfNumber(bytes, from)
  const word = words[first]
  if (word === undefined) return -1
  for (let i = 1; i < word.length; i += 1) if (bytes[from + i] !== word[i]) return -1
  return from + word.length
}

const words: Readonly<Record<number, Uint8Array>> = {
  116: Buffer.from('true'),
  102: Buffer.from('false'),
  110: Buffer.from('null'),
}

/** Opening brackets, enough for nearly every document. */
const shallow = new Uint8Array(256)

function endOfContainer(bytes: Uint8Array, from: number): number {
  const end = bytes.length
  let brackets = shallow
  let depth = 0
  let at = from
  for (;;) {
    const first = bytes[at]!
    let expectsMore = false
    if (first === 0x7b || first === 0x5b) {
      if (depth === brackets.length) brackets = doubled(brackets)
      brackets[depth] = first
      depth += 1
      at = afterSpace(bytes, at + 1)
      if (at >= end) return -1
      expectsMore = bytes[at] !== first + 2
    } else {
      at = first === 0x22 ? afterString(bytes, at) : endOfScalar(bytes, at)
      if (at < 0) return -1
    }
    // Close the containers that end here, until a comma.
    while (!expectsMore) {
      at = afterSpace(bytes, at)
      if (at >= end) return -1
      const next = bytes[at]!
      at += 1
      // In ASCII a closing bracket is two after its opening one.
      if (next === brackets[depth - 1]! + 2) {
        depth -= 1
        if (depth === 0) return at
      } else if (next === 0x2c) expectsMore = true
      else return -1
    }
    if (brackets[depth - 1] === 0x7b) {
      at = endOfKey(bytes, at)
      if (at < 0) return -1
    }
    at = afterSpace(bytes, at)
    if (at >= end) return -1
  }
}

function endOfKey(bytes: Uint8Array, from: number): number {
  let at = afterSpace(bytes, from)
  if (bytes[at] !== 0x22) return -1
  at = afterString(bytes, at)
  if (at < 0) return -1
  at = afterSpace(bytes, at)
  return bytes[at] === 0x3a ? at + 1 : -1
}

/** `from` is the opening quote. */
function afterString(bytes: Uint8Array, from: number): number {
  const found = endOfString(bytes, from + 1)
  return found === -1 ? -1 : (found < 0 ? ~found : found) + 1
}

function doubled(brackets: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * brackets.length)
  larger.set(brackets)
  return larger
}

export function afterSpace(bytes: Uint8Array, from: number): number {
  // Most JSON has no space between two tokens.
  if (bytes[from]! > 0x20) return from
  let at = from
  while (at < bytes.length && isSpace(bytes[at]!)) at += 1
  return at
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function isDeeperThan(bytes: Uint8Array, limit: number): boolean {
  if (bytes.length <= limit) return false
  let depth = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === 0x22) {
      at = afterString(bytes, at) - 1
      if (at < 0) return false
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      if (depth > limit) return true
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return false
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from
  if (bytes[at] === 0x2d) at += 1
  if (bytes[at] === 0x30) at += 1
  else {
    const digits = endOfDigits(bytes, at)
    if (digits === at) return -1
    at = digits
  }
  if (bytes[at] === 0x2e) {
    const digits = endOfDigits(bytes, at + 1)
    if (digits === at + 1) return -1
    at = digits
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at += 1
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at += 1
    const digits = endOfDigits(bytes, at)
    if (digits === at) return -1
    at = digits
  }
  return at
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at += 1
  return at
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}
