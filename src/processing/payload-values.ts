/** The values of a payload that an error text is compared with. Bounded: a payload is the sender's, not ours. */
const MOST_VALUES = 20_000
const MOST_DEPTH = 64

/** Every text in it. */
export function textsIn(payload: unknown): string[] {
  const found: string[] = []
  collect(payload, found, 0, (value) => typeof value === 'string')
  return found
}

/**
 * What stands at a path, everything below it included, as text. `*` is any one step, `**` any number of them, `[]` any
 * index: `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`.
 */
export function valuesAt(payload: unknown, steps: readonly string[]): string[] {
  const found: string[] = []
  let visits = 0
  function walk(value: unknown, at: number): void {
    if (visits++ > 4 * MOST_VALUES || found.length > MOST_VALUES) return
    if (at === steps.length) {
      collect(value, found, 0, isScalar)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const step = steps[at]!
    if (step === '**') walk(value, at + 1)
    for (const [key, member] of Object.entries(value)) {
      if (step === '**') walk(member, at)
      else if (step === '*' || step === key) walk(member, at + 1)
    }
  }
  walk(payload, 0)
  return found
}

export function parsePath(path: string): readonly string[] {
  return path
    .replaceAll('[]', '.*')
    .split('.')
    .filter((step) => step !== '')
}

function collect(value: unknown, found: string[], depth: number, wanted: (value: unknown) => boolean): void {
  if (found.length >= MOST_VALUES || depth > MOST_DEPTH) return
  if (wanted(value)) found.push(String(value))
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) collect(member, found, depth + 1, wanted)
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}
