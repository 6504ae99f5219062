/**
 * Turns errors of PostgreSQL and its driver into HookonceErrors. Details, and messages about the data of a statement, are
 * not passed on: they may quote values, and values may be payload.
 */
import { HookonceError, isHookonceError } from '../../../errors.js'
import { missingPrivilege } from './privileges.js'

interface PgFailure {
  code?: string
  message?: string
  table?: string
  constraint?: string
  routine?: string
  /** Node tried several addresses of one host. */
  errors?: readonly PgFailure[]
}

/** It is unknown whether a running statement took effect. */
export function isConnectionFailure(error: unknown): boolean {
  const { code = '', message = '' } = error as PgFailure
  return (
    /^(08...|57P0.|25P0[34]|28...|53300|25006)$/.test(code) ||
    isSystemFailure(code) ||
    /^(Connection terminated|timeout e|Client (has encountered a connection error|was closed)|The server does not support SSL|SASL:)/.test(
      message,
    ) ||
    code in certificateProblems ||
    code === TIMED_OUT
  )
}

/** Codes of the operating system, such as EMFILE, and of TLS. No SQLSTATE begins with E. */
function isSystemFailure(code: string): boolean {
  return (
    /^(E[A-Z0-9_]{2,}|CERT_\w+|CRL_\w+|UNABLE_TO_\w+|HOSTNAME_MISMATCH)$/.test(code) &&
    !/^ERR_(INVALID|OUT_OF)_/.test(code)
  )
}

/** A pooler has changed the session, which knows no statement, or another one, by the name. The statement did not run. */
export function isStatementLost(error: unknown): boolean {
  const { code = '', routine = '' } = error as PgFailure
  return ['26000', '42P05'].includes(code) || (code === '08P01' && routine === 'exec_bind_message')
}

/** The statement can be sent again. */
export function isRaceFailure(error: unknown): boolean {
  return ['40001', '40P01', '55P03'].includes((error as PgFailure).code ?? '')
}

/** A value of the sender is too long for a column or an index, or not in the encoding of the database. */
export function isRefusal(error: unknown): boolean {
  return ['22001', '22021', '22P05', '54000'].includes((error as PgFailure).code ?? '')
}

/** One row may cause the failure, and the others can be stored. A sequence that has reached its end fails every row. */
export function isRowFailure(error: unknown): boolean {
  const { code = '' } = error as PgFailure
  return /^(22|23|54|P0)/.test(code) && code !== '2200H'
}

export function isPartitionMissing(error: unknown): boolean {
  const { code, table, constraint } = error as PgFailure
  return code === '23514' && table === 'payloads' && !constraint
}

const TIMED_OUT = 'HOOKONCE_TIMED_OUT'

export function timedOut(): Error {
  return Object.assign(new Error('no answer in time'), { code: TIMED_OUT })
}

export function isTimedOut(error: unknown): boolean {
  return (error as PgFailure | null)?.code === TIMED_OUT
}

export function isReadOnlyFailure(error: unknown): boolean {
  return (error as PgFailure | null)?.code === '25006'
}

export function isPoolExhausted(error: unknown): boolean {
  return (error as PgFailure).message === 'timeout exceeded when trying to connect'
}

export function describe(error: unknown): string {
  const { code, table, constraint, routine, message = '' } = error as PgFailure
  if (code === TIMED_OUT) return 'no answer in time'
  if (/^The server does not support SSL/.test(message))
    return 'the server does not support TLS; use sslmode=disable, or enable ssl on the server'
  if (/^SASL:/.test(message)) return 'the server asks for a password; set it in the URL or as `password`'
  if (!code) return /^(Connection|timeout)/.test(message) ? message : 'an unexpected driver error'
  const parameter = /unsupported startup parameter: (\w+)/.exec(message)?.[1]
  if (parameter)
    return `the pooler refuses the startup parameter ${parameter}; remove it, or add it to ignore_startup_parameters`
  const explained = explanations[code] ?? certificateProblems[code]
  const place = constraint ?? table ?? routine
  const own = ownMessage(error as PgFailure)
  if (explained === constrained) return `${code} at ${place}: ${explained}`
  if (explained) return `${code}: ${explained}${own && ` (${own})`}`
  if (own) return `${code}: ${own}`
  return place ? `${code} at ${place}` : code
}

/** Classes of SQLSTATE about the server, the session, the schema and privileges: these messages name objects only. */
const ABOUT_THE_SERVER = /^(08|25|28|3D|3F|40|42|53|55|57|58|F0|XX)...$/
/** Names the address: `connect ECONNREFUSED 127.0.0.1:5432`. */
const OF_A_SOCKET = /^(connect|getaddrinfo|read|write) E[A-Z_]+/
const MAX_MESSAGE = 200

function ownMessage({ code = '', message = '', errors = [] }: PgFailure): string {
  if (ABOUT_THE_SERVER.test(code)) return message.replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE)
  const texts = [message, ...errors.map((each) => each.message ?? '')]
  return [...new Set(texts.filter((text) => OF_A_SOCKET.test(text)))]
    .map((text) => text.replace(` ${code}`, ''))
    .join(', ')
}

const unknownAuthority =
  'the certificate of the server is not signed by a known authority; set sslrootcert to the file of its authority'
const certificateProblems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_HAS_EXPIRED: 'the certificate of the server has expired; renew it',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate of the server is for another host; connect by the name that it contains',
}

const broken = 'the server or its machine failed; see the log of the server'
const constrained =
  'a constraint forbids the row; remove the constraint if you added it to a table of hookonce'

const explanations: Readonly<Record<string, string>> = {
  '2200H': 'a sequence has reached its end; raise its maximum',
  '23502': constrained,
  '23505': constrained,
  '23514': constrained,
  P0001: 'a trigger raised an error; remove the trigger if you added it to a table of hookonce',
  '25006':
    'the server is read-only, such as a standby; connect to the primary, or list every host with target_session_attrs=read-write',
  '25P03': 'the server ended an idle transaction; raise idle_in_transaction_session_timeout',
  '25P04': 'the server ended a transaction; raise transaction_timeout',
  '28P01': 'the server refused the password of this role; check it',
  '28000':
    'the server refused this role, its certificate or an unencrypted connection; check pg_hba.conf and sslmode',
  '3D000': 'the database does not exist; check its name, or create it',
  '53300':
    'the server or the role has no connection left; lower maxConnections and maxTransactions, raise max_connections, or use a pooler',
  '57P04': 'the database was dropped; check its name, or create it',
  '58000': broken,
  XX000: broken,
  '55P03': 'another transaction holds the lock',
  '57014': 'the statement was cancelled, by statement_timeout or by an administrator',
  '57P05': 'the server ended an idle session',
}

export function asHookonceError(error: unknown): HookonceError {
  if (isHookonceError(error)) return error
  const { code = '' } = error as PgFailure
  const problem = describe(error)
  if (isStatementLost(error))
    return new HookonceError('STORE_BUSY', { problem: `${problem}: a pooler changed the session` })
  if (isConnectionFailure(error)) return new HookonceError('STORE_UNAVAILABLE', { problem })
  if (code === '42501') return missingPrivilege((error as PgFailure).message ?? '')
  if (code === '3D000') return new HookonceError('STORE_UNAVAILABLE', { problem })
  if (code === '53100') return new HookonceError('STORE_FULL', { problem })
  if (/^(53|58|XX|F0)/.test(code)) return new HookonceError('STORE_UNAVAILABLE', { problem })
  if (code === '25P02') return new HookonceError('TRANSACTION_ABORTED')
  if (['57014', '55P03', '40001', '40P01'].includes(code)) {
    return new HookonceError('STORE_BUSY', { problem })
  }
  if (['42P01', '3F000', '42883'].includes(code)) {
    return new HookonceError('SCHEMA_MISSING', { found: 'none', known: 1 })
  }
  return new HookonceError('STORE_FAILED', { problem })
}

export function throwHookonceError(error: unknown): never {
  throw asHookonceError(error)
}
