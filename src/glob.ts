/** In a glob, `*` is any run of characters, also none; every other character stands for itself. */

export function isGlob(pattern: string): boolean {
  return pattern.includes('*')
}

/** `pull_request.opened` has the family `pull_request`. Null for a type without an action. */
export function familyOf(type: string, separator: string | undefined): string | null {
  const at = separator === undefined ? -1 : type.indexOf(separator)
  return at > 0 ? type.slice(0, at) : null
}

/** A pattern may match the type or its family. */
export function handlesType(pattern: string, type: string, separator: string | undefined): boolean {
  if (globMatches(pattern, type)) return true
  const family = familyOf(type, separator)
  return family !== null && globMatches(pattern, family)
}

/** True when some text matches both. */
export function globsMeet(a: string, b: string): boolean {
  /** `row[j]`: the suffix of `b` at `j` meets the suffix of `a` at the row before. */
  let row: boolean[] = []
  for (let i = a.length; i >= 0; i--) {
    const next: boolean[] = []
    for (let j = b.length; j >= 0; j--) {
      if (i === a.length && j === b.length) next[j] = true
      else if (a[i] === '*') next[j] = row[j]! || (j < b.length && next[j + 1]!)
      else if (b[j] === '*') next[j] = next[j + 1]! || (i < a.length && row[j]!)
      else next[j] = i < a.length && j < b.length && a[i] === b[j] && row[j + 1]!
    }
    row = next
  }
  return row[0]!
}

/** An exact pattern is first, then the one with more characters that are not stars. */
export function moreSpecificFirst(a: string, b: string): number {
  const exact = Number(isGlob(a)) - Number(isGlob(b))
  const literal = b.replaceAll('*', '').length - a.replaceAll('*', '').length
  return exact || literal || (a < b ? -1 : 1)
}

/** Goes back to the last star only, so that no pattern takes more than pattern x text steps (a regex could). */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = t
    } else if (pattern[p] === text[t]) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
