/** References that a handler, or a worker of the worker API, has learned. */
import { limits, type Reference } from '../model.js'
import { referenceText } from '../verification/delivery/names.js'

/**
 * `given` is not empty, and is kept in the form that it would have in a delivery. False: there are as many references as
 * the log keeps. The work is done by then, so nothing fails because of one more.
 */
export function addReference(references: Reference[], label: string, given: string | number): boolean {
  const value = referenceText(String(given))!
  if (references.some((known) => known.label === label && known.value === value)) return true
  if (references.length >= limits.references) return false
  references.push({ label, value })
  return true
}
