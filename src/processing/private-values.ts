/**
 * Private values are the values of a payload at configured paths; they are masked in a text. The sender decides how large a
 * payload is, so the payload and the text are read once each, however many paths and values there are.
 */
export const MASK = '***'

const MAX_MEMBERS = 262_144
const MAX_VALUE_CHARACTERS = 65_536
/** A shorter value is masked only where it is a whole word. */
const MIN_VALUE_CHARACTERS = 3

/** `*` is any one step, `**` any number of steps, `[]` any index: `customer.email`, `items[].buyer`, `**.iban`. */
export function parsePath(path: string): readonly string[] {
  return path
    .replaceAll('[]', '.*')
    .split('.')
    .filter((step) => step !== '')
}

/** `next` is null at the end of the path. */
interface Step {
  readonly name: string
  readonly next: Step | null
}

/** Null when the payload is too large to find all values at the paths and below them. */
export function valuesAt(
  payload: unknown,
  paths: readonly (readonly string[])[],
): ReadonlySet<string> | null {
  const found = new Set<string>()
  const firstSteps = paths.map((path) =>
    path.reduceRight<Step | null>((next, name) => ({ name, next }), null),
  )
  const unread = [{ value: payload, steps: reached(firstSteps) }]
  for (let members = 1; unread.length > 0; ) {
    const { value, steps } = unread.pop()!
    if (isScalar(value) && steps.has(null)) found.add(String(value))
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (++members > MAX_MEMBERS) return null
      const next = reached(stepsBehind(steps, key))
      if (next.size > 0) unread.push({ value: member, steps: next })
    }
  }
  return found
}

/** A step `**` may be left out. */
function reached(steps: Iterable<Step | null>): ReadonlySet<Step | null> {
  const all = new Set(steps)
  for (const step of all) if (step?.name === '**') all.add(step.next) // the loop also visits what is added
  return all
}

function* stepsBehind(steps: ReadonlySet<Step | null>, key: string): Iterable<Step | null> {
  for (const step of steps) {
    if (step === null || step.name === '**') yield step
    else if (step.name === '*' || step.name === key) yield step.next
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}

/**
 * Masks the values in upper or lower case, as they are, inside JSON and inside a URL. `wasCut`: the text may end within a
 * value. Null when there are too many values.
 */
export function withoutValues(text: string, values: Iterable<string>, wasCut: boolean): string | null {
  // A few letters have another length in lower case; positions would not match, so the case counts then.
  const folds = text.toLowerCase().length === text.length
  const fold = (value: string) => (folds ? value.toLowerCase() : value)
  const finder = new Finder()
  const words = new Set<string>()
  let characters = 0
  for (const value of values) {
    for (const form of new Set(formsOf(value).map(fold))) {
      characters += Math.min(form.length, text.length)
      if (characters > MAX_VALUE_CHARACTERS) return null
      if (form.length < MIN_VALUE_CHARACTERS) words.add(form)
      else finder.add(form, text.length)
    }
  }
  const hidden = new Uint8Array(text.length)
  finder.hide(fold(text), hidden, wasCut)
  if (words.size > 0) hideWords(fold(text), words, hidden)
  return masked(text, hidden)
}

function formsOf(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]
}

/** Finds many values in one pass over a text, by the algorithm of Aho and Corasick. */
class Finder {
  readonly #root = new Beginning(0)

  /** Only the beginning of a value that is longer than the text can occur, at the end of a text that was cut. */
  add(value: string, textLength: number): void {
    let node = this.#root
    for (let at = 0; at < value.length && at < textLength; at++) node = node.longer(value.charCodeAt(at))
    if (value.length <= textLength) node.ends = value.length
  }

  hide(text: string, hidden: Uint8Array, wasCut: boolean): void {
    this.#setFallbacks()
    const lengths = new Uint32Array(text.length)
    let node = this.#root
    for (let at = 0; at < text.length; at++) {
      node = this.#step(node, text.charCodeAt(at))
      lengths[at] = node.ends
    }
    // Backwards: `start` is the smallest start of all values that end here or later.
    let start = wasCut ? text.length - node.length : text.length
    for (let at = text.length - 1; at >= 0; at--) {
      if (lengths[at]! > 0) start = Math.min(start, at + 1 - lengths[at]!)
      if (at >= start) hidden[at] = 1
    }
  }

  #step(from: Beginning, character: number): Beginning {
    for (let node: Beginning | null = from; node; node = node.fallback) {
      const next = node.next.get(character)
      if (next) return next
    }
    return this.#root
  }

  /** Shorter beginnings first, because a fallback is always shorter. */
  #setFallbacks(): void {
    const nodes = [this.#root]
    for (const node of nodes) {
      for (const [character, longer] of node.next) {
        longer.fallback = node.fallback ? this.#step(node.fallback, character) : this.#root
        longer.ends ||= longer.fallback.ends
        nodes.push(longer) // the loop also visits what is added
      }
    }
  }
}

class Beginning {
  readonly length: number
  readonly next = new Map<number, Beginning>()
  /** The longest other beginning with which this one ends; null for the empty one. */
  fallback: Beginning | null = null
  /** The longest value that ends here has this length; 0 when none does. */
  ends = 0

  constructor(length: number) {
    this.length = length
  }

  longer(character: number): Beginning {
    let node = this.next.get(character)
    if (!node) {
      node = new Beginning(this.length + 1)
      this.next.set(character, node)
    }
    return node
  }
}

function hideWords(text: string, words: ReadonlySet<string>, hidden: Uint8Array): void {
  for (let length = 1; length < MIN_VALUE_CHARACTERS; length++) {
    for (let at = 0; at + length <= text.length; at++) {
      if (!words.has(text.slice(at, at + length))) continue
      if (!isLetter(text[at - 1]) && !isLetter(text[at + length])) hidden.fill(1, at, at + length)
    }
  }
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character)
}

function masked(text: string, hidden: Uint8Array): string {
  let out = ''
  for (let at = 0; at < text.length; ) {
    let end = at
    while (end < text.length && hidden[end] === hidden[at]) end++
    out += hidden[at] === 1 ? MASK : text.slice(at, end)
    at = end
  }
  return out
}
