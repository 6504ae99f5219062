interface DiffLine {
  readonly kind: 'same' | 'first' | 'other'
  readonly text: string
}

/** Above this many comparisons, the middle is shown as replaced and not compared line by line. */
const MOST_CELLS = 4_000_000

export function diffLines(first: readonly string[], other: readonly string[]): DiffLine[] {
  let start = 0
  while (start < first.length && start < other.length && first[start] === other[start]) start++
  let end = 0
  while (
    end < first.length - start &&
    end < other.length - start &&
    first[first.length - 1 - end] === other[other.length - 1 - end]
  )
    end++
  const a = first.slice(start, first.length - end)
  const b = other.slice(start, other.length - end)
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [
    ...first.slice(0, start).map(same),
    ...(a.length * b.length <= MOST_CELLS ? compare(a, b) : replaced(a, b)),
    ...first.slice(first.length - end).map(same),
  ]
}

function replaced(a: readonly string[], b: readonly string[]): DiffLine[] {
  return [
    ...a.map((text): DiffLine => ({ kind: 'first', text })),
    ...b.map((text): DiffLine => ({ kind: 'other', text })),
  ]
}

/** The longest common part, by the usual table. */
function compare(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)
    }
  }
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! })
      i++
      j++
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) {
      lines.push({ kind: 'first', text: a[i++]! })
    } else {
      lines.push({ kind: 'other', text: b[j++]! })
    }
  }
  return [...lines, ...replaced(a.slice(i), b.slice(j))]
}

/** Deeper levels are not indented further: a value may be nested thousands of times. */
const MOST_LEVELS = 40
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * JSON with one value in a line. The text is laid out again and not parsed: digits, escapes, repeated keys and the order
 * of keys stay as they were sent.
 */
export function indented(json: string): string {
  let text = ''
  let level = 0
  let before = ''
  const line = () => `\n${'  '.repeat(Math.min(level, MOST_LEVELS))}`
  for (const [part] of json.matchAll(token)) {
    const closes = part === '}' || part === ']'
    const empty = closes && (before === '{' || before === '[')
    if (closes) level--
    if (!empty && (closes || before === '{' || before === '[' || before === ',')) text += line()
    text += part === ':' ? ': ' : part
    if (part === '{' || part === '[') level++
    before = part
  }
  return text
}
