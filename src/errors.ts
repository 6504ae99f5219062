/** `error-table.ts` has the code, the HTTP status and the message of each error. */
import { type ErrorCode, type ErrorEntry, errorTable } from './error-table.js'

export { type ErrorCode, errorTable } from './error-table.js'

/** An application can hold two copies of this package, one in a bundle and one in node_modules; both know this name. */
const BRAND = Symbol.for('hookonce.error')

export class HookonceError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value
  }

  get [BRAND](): true {
    return true
  }

  override readonly name = 'HookonceError'
  readonly code: ErrorCode
  readonly httpStatus: number
  readonly retryable: boolean
  readonly details: Readonly<Record<string, string | number>>

  constructor(code: ErrorCode, details: Record<string, string | number> = {}, cause?: unknown) {
    const entry: ErrorEntry = errorTable[code]
    super(fill(entry.message, details), cause === undefined ? undefined : { cause })
    this.code = code
    this.httpStatus = entry.httpStatus
    this.retryable = entry.retryable
    this.details = details
  }
}

export function isHookonceError(error: unknown, code?: ErrorCode): error is HookonceError {
  return error instanceof HookonceError && (code === undefined || error.code === code)
}

/** For logs and counters. A handler can throw a value that throws when it is inspected. */
export function codeOf(error: unknown): ErrorCode {
  try {
    return isHookonceError(error) ? error.code : 'UNEXPECTED'
  } catch {
    return 'UNEXPECTED'
  }
}

export function invalid(what: string, problem: string): HookonceError {
  return new HookonceError('INVALID_INPUT', { what, problem })
}

function fill(message: string, details: Record<string, string | number>): string {
  return message.replace(/\{(\w+)\}/g, (_, key: string) => String(details[key] ?? `(${key})`))
}
