/**
 * Classifies errors of PostgreSQL and its driver, and turns them into HookonceErrors. Only codes and names of database
 * objects are passed on: messages and details of PostgreSQL may quote values, and values may be payload (I8).
 */
import { HookonceError, isHookonceError } from '../../errors.js'

interface PgFailure {
  code?: string
  message?: string
  table?: string
  constraint?: string
  routine?: string
}

/** The connection is broken or was never made. It is unknown whether a running statement took effect. */
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

/** A conflict between two transactions; the same statement can be sent again. */
export function isRaceFailure(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes((error as PgFailure).code ?? '')
}

/** The values of a row cause the failure: too long for an index, or not in the encoding of the database. */
export function isRowFailure(error: unknown): boolean {
  const { code = '' } = error as PgFailure
  return /^(22|54)/.test(code) || ['23502', '23514'].includes(code)
}

/** There is no partition for a row. */
export function isPartitionMissing(error: unknown): boolean {
  const { code, table, constraint } = error as PgFailure
  return code === '23514' && table === 'payloads' && !constraint
}

/** The code of the error that `answerOf` throws. */
const TIMED_OUT = 'HOOKONCE_TIMED_OUT'

export function timedOut(): Error {
  return Object.assign(new Error('no answer in time'), { code: TIMED_OUT })
}

export function isTimedOut(error: unknown): boolean {
  return (error as PgFailure | null)?.code === TIMED_OUT
}

/** All connections of the pool stayed in use until the time limit of the pool. */
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
