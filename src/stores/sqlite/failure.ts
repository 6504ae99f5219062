/**
 * Turns failures of SQLite into errors of `src/errors.ts`, and both into messages between threads, where an Error would
 * lose its class. A text never contains a value: SQLite's texts name only tables and columns, and the text of any other
 * error is left out, because a JavaScript error may quote its input.
 */
import { type ErrorCode, HookonceError, isHookonceError } from '../../errors.js'

/** Primary result codes: https://sqlite.org/rescode.html */
const PERM = 3
const BUSY = 5
const LOCKED = 6
const READONLY = 8
const IOERR = 10
const FULL = 13
const CANTOPEN = 14
const TOOBIG = 18
const CONSTRAINT = 19
const MISMATCH = 20
const NOTADB = 26
const SQL_ERROR = 1

const codes = new Map<number, ErrorCode>([
  [BUSY, 'STORE_BUSY'],
  [LOCKED, 'STORE_BUSY'],
  [FULL, 'STORE_FULL'],
  [PERM, 'STORE_UNAVAILABLE'],
  [READONLY, 'STORE_UNAVAILABLE'],
  [IOERR, 'STORE_UNAVAILABLE'],
  [CANTOPEN, 'STORE_UNAVAILABLE'],
])

interface SqliteError extends Error {
  readonly code: string
  readonly errcode: number
  readonly errstr: string
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && typeof (error as { errcode?: unknown }).errcode === 'number'
}

export function isRefusal(error: unknown): error is SqliteError {
  return isSqliteError(error) && (error.errcode & 0xff) === TOOBIG
}

/** One row may cause the error, and the others can be stored: a refusal, a constraint, or a trigger that raises an error. */
export function isRowFailure(error: unknown): boolean {
  return isSqliteError(error) && [TOOBIG, CONSTRAINT, MISMATCH].includes(error.errcode & 0xff)
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode & 0xff) === BUSY
}

export function toHookonceError(error: unknown): HookonceError {
  if (isHookonceError(error)) return error
  if (isSqliteError(error)) {
    const primary = error.errcode & 0xff
    return new HookonceError(codes.get(primary) ?? 'STORE_FAILED', { problem: describe(error) }, error)
  }
  if (isSystemError(error)) return new HookonceError('STORE_UNAVAILABLE', { problem: error.code }, error)
  return new HookonceError('STORE_FAILED', { problem: whereItBroke(error) }, error)
}

export function describe(error: SqliteError): string {
  const primary = error.errcode & 0xff
  // "no such table: x" is more precise than "SQL logic error", and hookonce's SQL has no values in its text.
  const text = primary === SQL_ERROR || primary === NOTADB ? error.message : error.errstr
  const advice =
    primary === CONSTRAINT ? ' of a constraint or trigger that hookonce did not make; remove it' : ''
  return `${text}, SQLite code ${error.errcode}${advice}`
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}

function whereItBroke(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error'
  const frame = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '))
  return `${error.name} ${frame?.trim() ?? ''}`.trim()
}

/** `sql`: a statement of the handler failed, and the handler gets SQLite's error. */
export type WireError =
  | { readonly kind: 'hookonce'; readonly code: ErrorCode; readonly details: Record<string, string | number> }
  | { readonly kind: 'sql'; readonly message: string; readonly code: string; readonly errcode: number | null }

export function toWire(error: unknown): WireError {
  const { code, details } = toHookonceError(error)
  return { kind: 'hookonce', code, details }
}

/** An outage becomes an error of hookonce; a mistake in the handler's statement stays SQLite's error. */
export function handlerErrorToWire(error: unknown): WireError {
  if (isHookonceError(error) || (isSqliteError(error) && codes.has(error.errcode & 0xff)))
    return toWire(error)
  if (!(error instanceof Error)) return toWire(error)
  const { code } = error as { code?: unknown }
  const errcode = isSqliteError(error) ? error.errcode : null
  return { kind: 'sql', message: error.message, code: typeof code === 'string' ? code : error.name, errcode }
}

export function fromWire(error: WireError): Error {
  if (error.kind === 'hookonce') return new HookonceError(error.code, error.details)
  return Object.assign(new Error(error.message), {
    code: error.code,
    ...(error.errcode === null ? {} : { errcode: error.errcode }),
  })
}
