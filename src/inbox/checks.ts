/** What is wrong with the parts of an inbox is said before it is made. */
import { invalid } from '../errors.js'
import { defaultLimits, type IntakeLimits } from '../intake/receive.js'
import type { Logger } from '../log.js'
import type { Source } from '../provider.js'
import { sourceNameProblem } from '../store-input.js'

export function checkSources(
  given: Readonly<Record<string, Source>>,
  log: Logger,
): ReadonlyMap<string, Source> {
  const sources = new Map(Object.entries(given))
  for (const [name, source] of sources) {
    const problem = sourceNameProblem(name)
    if (problem) throw invalid(`The source name "${name}"`, problem)
    if (typeof source?.verify !== 'function') {
      throw invalid(`The source "${name}"`, 'must be made by a provider factory, such as stripe({ secret })')
    }
    if (source.unverified) {
      log.warn({ source: name }, 'this source is not verified: anyone who can reach it can record events')
    }
  }
  return sources
}

export function checkLimits(limits: IntakeLimits): IntakeLimits {
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in defaultLimits))
      throw invalid(
        `The limit "${name}"`,
        `does not exist; known limits: ${Object.keys(defaultLimits).join(', ')}`,
      )
    if (!Number.isSafeInteger(value) || value < 1)
      throw invalid(`The limit ${name}`, `must be a whole number above 0, not ${value}`)
  }
  return limits
}
