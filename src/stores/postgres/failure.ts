/**
 * What PostgreSQL and its driver throw, as errors of our table. Only codes and names of database objects are
 * passed on: messages and details of PostgreSQL may quote values, and values may be payload (I8).
 */
import { HookonceError, isHookonceError } from '../../errors.js'

interface PgFailure {
  code?: string
  message?: string
  table?: string
  constraint?: string
  routine?: string
}

/** The connection is gone or was never there. Whether a statement under way took effect is not known. */
export function isConnectionFailure(error: unknown): boolean {
  const { code = '', message = '' } = error as PgFailure
  return (
    /^(08...|57P0[123]|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|53300|25006)$/.test(
      code,
    ) ||
    /^(Connection terminated|timeout e|Client (has encountered a connection error|was closed))/.test(
      message,
    ) ||
    code === TIMED_OUT
  )
}

/** Two transactions got in each other's way; the same statement may be sent again. */
export function isRaceFailure(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes((error as PgFailure).code ?? '')
}

/** The values of one row are at fault, not the database: too long for an index, not in the database's encoding. */
export function isRowFailure(error: unknown): boolean {
  const { code = '' } = error as PgFailure
  return /^(22|54)/.test(code) || ['23502', '23514'].includes(code)
}

/** A row had no partition to go to. */
export function isPartitionMissing(error: unknown): boolean {
  const { code, table, constraint } = error as PgFailure
  return code === '23514' && table === 'payloads' && !constraint
}

/** Our own code for an answer that did not come in time. */
const TIMED_OUT = 'HOOKONCE_TIMED_OUT'

export function timedOut(): Error {
  return Object.assign(new Error('no answer in time'), { code: TIMED_OUT })
}

export function isTimedOut(error: unknown): boolean {
  return (error as PgFailure | null)?.code === TIMED_OUT
}

/** Every connection of the pool stayed in use for as long as the caller could wait. */
export function isPoolExhausted(error: unknown): boolean {
  return (error as PgFailure).message === 'timeout exceeded when trying to connect'
}

export function describe(error: unknown): string {
  const { code, table, constraint, routine, message } = error as PgFailure
  if (code === TIMED_OUT) return 'no answer in time'
  if (!code)
    return /^(Connection|timeout)/.test(message ?? '') ? (message as string) : 'an unexpected driver error'
  const place = constraint ?? table ?? routine
  return place ? `${code} at ${place}` : code
}

export function asHookonceError(error: unknown): HookonceError {
  if (isHookonceError(error)) return error
  const { code = '' } = error as PgFailure
  const problem = describe(error)
  if (isConnectionFailure(error)) return new HookonceError('STORE_UNAVAILABLE', { problem })
  if (code === '53100') return new HookonceError('STORE_FULL', { problem })
  if (code === '25P02') return new HookonceError('TRANSACTION_ABORTED')
  if (['57014', '55P03', '40001', '40P01', '53200', '53400'].includes(code)) {
    return new HookonceError('STORE_BUSY', { problem })
  }
  if (['42P01', '3F000', '42883'].includes(code)) {
    return new HookonceError('SCHEMA_MISSING', { found: 'none', known: 1 })
  }
  return new HookonceError('STORE_FAILED', { problem })
}
