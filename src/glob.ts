/** Globs over event types: `*` is any run of characters, also none; every other character stands for itself. */

export function isGlob(pattern: string): boolean {
  return pattern.includes('*')
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
