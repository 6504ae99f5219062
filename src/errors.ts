/**
 * The one table of errors. A code is stable and documented in `docs/errors.md` (a test compares the two).
 * Messages say what happened, to what, and what to do next; they never contain a secret or a payload byte (I8).
 */
interface ErrorEntry {
  /** What an HTTP caller gets when this reaches it. */
  readonly httpStatus: number
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean
  readonly message: string
}

export const errorTable = {
  INVALID_INPUT: {
    httpStatus: 400,
    retryable: false,
    message: '{what} is not valid: {problem}.',
  },
  UNKNOWN_SOURCE: {
    httpStatus: 404,
    retryable: false,
    message: 'There is no source named "{source}". Configured sources: {known}.',
  },
  EVENT_NOT_FOUND: {
    httpStatus: 404,
    retryable: false,
    message: 'Source "{source}" has no event "{eventId}". Check the id, or whether retention has removed it.',
  },
  EVENT_PROCESSING: {
    httpStatus: 409,
    retryable: true,
    message:
      'Event "{eventId}" of "{source}" is being processed. Wait until its attempt ends, then order again.',
  },
  MOVE_FORBIDDEN: {
    httpStatus: 409,
    retryable: false,
    message: 'Event "{eventId}" of "{source}" is {state}: {verb} does not apply to it.',
  },
  FORCE_NEEDED: {
    httpStatus: 409,
    retryable: false,
    message:
      'Event "{eventId}" of "{source}" has succeeded. Replay it with force if its effects may happen again.',
  },
  EVENT_REFUSED: {
    httpStatus: 400,
    retryable: false,
    message: 'The store refused event "{eventId}" of "{source}": {problem}. Other events were not affected.',
  },
  LEASE_LOST: {
    httpStatus: 409,
    retryable: false,
    message:
      'The lease on event "{eventId}" of "{source}" is lost: it ran out or another worker took the event. Nothing was written.',
  },
  BODY_CONSUMED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The body of POST {path} was read by a body parser before hookonce, so its signature cannot be checked. Move the line app.use(express.json()) (or bodyParser.json()) below the line that mounts hookonce.',
  },
  KEY_BUSY: {
    httpStatus: 409,
    retryable: true,
    message:
      'Somebody else is running once("{key}") and did not finish within {waitMs} ms. Try again, or wait longer with waitMs.',
  },
  KEY_LOST: {
    httpStatus: 409,
    retryable: true,
    message:
      'The hold on once("{key}") was lost while it ran: it took longer than its lease. Its result was not kept; give it a longer leaseMs.',
  },
  RESULT_NOT_KEPT: {
    httpStatus: 500,
    retryable: false,
    message:
      'The {what} has run and is not run again, but its result was not kept: {problem}. Return only what later attempts need. To go on without the result, catch this error around once.',
  },
  STORE_UNAVAILABLE: {
    httpStatus: 503,
    retryable: true,
    message:
      'The store cannot be reached ({problem}). Check that the database is up; senders are told to retry.',
  },
  STORE_BUSY: {
    httpStatus: 503,
    retryable: true,
    message: 'The store is busy: {problem}. Try again in a moment.',
  },
  POOL_EXHAUSTED: {
    httpStatus: 503,
    retryable: true,
    message:
      'No transaction could begin within {waitedMs} ms: other transactions hold every connection for handlers (on SQLite, the one writer). The event is tried again and no attempt is used up. Make transactions shorter, raise maxTransactions (or the max of your pool), or lower processing.concurrency.',
  },
  STORE_FULL: {
    httpStatus: 503,
    retryable: true,
    message:
      'The store has no space left ({problem}). Free some space or prune; nothing already recorded is affected.',
  },
  STORE_CLOSED: {
    httpStatus: 503,
    retryable: false,
    message: 'The store is closed. Open a new one; a closed store does not come back.',
  },
  STORE_FAILED: {
    httpStatus: 500,
    retryable: false,
    message: 'The store failed: {problem}. This is a bug or a damaged database; run `hookonce doctor`.',
  },
  STORE_URL: {
    httpStatus: 500,
    retryable: false,
    message:
      'The store URL "{url}" is not understood. Use sqlite:path/to/file.db, sqlite::memory: or postgres://user@host/db.',
  },
  SCHEMA_NEWER: {
    httpStatus: 500,
    retryable: false,
    message:
      'The log has schema {found}, which needs a hookonce that knows schema {needed}; this one knows up to {known}. Use {upgrade} before it touches this log.',
  },
  SCHEMA_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'The log has schema {found}, this hookonce needs {known}. Run `hookonce migrate up` (or call store.migrate()) first.',
  },
  DRIVER_MISSING: {
    httpStatus: 500,
    retryable: false,
    message: '{driver} is not installed. Run: npm install {driver}',
  },
  TRANSACTION_CLOSED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The transaction is over ({problem}). Use ctx.tx only inside the handler, and await every call on it.',
  },
  TRANSACTION_ABORTED: {
    httpStatus: 500,
    retryable: true,
    message:
      'An SQL error inside the handler was caught and not rethrown, so PostgreSQL aborted the transaction. Rethrow it, or wrap that statement in a savepoint.',
  },
  COMMIT_UNKNOWN: {
    httpStatus: 503,
    retryable: true,
    message:
      'The connection was lost during COMMIT ({problem}); whether it took effect is not known yet. Read the event back before deciding.',
  },
  SPOOL_FULL: {
    httpStatus: 503,
    retryable: true,
    message:
      'The spool holds all of the {maxBytes} bytes it may. Bring the database back, or give it more room with spool.maxBytes; senders are told to retry.',
  },
  SPOOL_FAILED: {
    httpStatus: 503,
    retryable: true,
    message:
      'The spool "{path}" cannot be used: {problem}. Check its folder, its rights and the space on its disk; senders are told to retry.',
  },
  SECRET_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'Provider "{provider}" needs the option {option}, and it is missing, empty or blank. Set it; to take deliveries without a check, write unverified(...) instead.',
  },
  SECRET_SHORT: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option {option} of provider "{provider}" holds {found} bytes once decoded; at least {least} are needed. Check that it was copied whole.',
  },
  SECRET_FORM: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option {option} of provider "{provider}" cannot be read as {form}. Copy it as the sender shows it.',
  },
  OPTION_UNKNOWN: {
    httpStatus: 500,
    retryable: false,
    message: 'Provider "{provider}" has no option "{option}".{suggestion} It takes: {known}.',
  },
  OPTION_INVALID: {
    httpStatus: 500,
    retryable: false,
    message: 'The option {option} of provider "{provider}" is not valid: {problem}.',
  },
  SIGNING_UNAVAILABLE: {
    httpStatus: 500,
    retryable: false,
    message:
      'Provider "{provider}" cannot sign a delivery: {problem}. Make a key pair with generateKeys() and give both halves to the factory.',
  },
  UNAUTHENTICATED: {
    httpStatus: 401,
    retryable: false,
    message: 'This needs a token. Send it as `Authorization: Bearer <token>`, or sign in on the page.',
  },
  TOKEN_REFUSED: {
    httpStatus: 401,
    retryable: false,
    message:
      'The token or session is not known, or its time is over. Sign in again with a token of this server.',
  },
  SIGN_IN_LIMITED: {
    httpStatus: 429,
    retryable: true,
    message: 'Too many wrong tokens came from this address. Wait {retryAfterS} seconds, then sign in again.',
  },
  FORBIDDEN: {
    httpStatus: 403,
    retryable: false,
    message: 'The role {role} may not do this. Use a token with the role {roles}.',
  },
  READ_ONLY: {
    httpStatus: 403,
    retryable: false,
    message: 'This admin API is read-only. Use one that was not mounted with readOnly.',
  },
  HOST_REFUSED: {
    httpStatus: 421,
    retryable: false,
    message:
      'This server does not answer to the host name it was called by. Add it to `hosts` if it is yours.',
  },
  ORIGIN_REFUSED: {
    httpStatus: 403,
    retryable: false,
    message:
      'The request comes from a page of another origin. Call the API from its own page, or with a bearer token from a program.',
  },
  ROUTE_UNKNOWN: {
    httpStatus: 404,
    retryable: false,
    message: 'There is nothing at this path. `/api/openapi.json` lists what there is.',
  },
  METHOD_REFUSED: {
    httpStatus: 405,
    retryable: false,
    message: 'This path does not take that method. It takes: {allow}.',
  },
  BODY_TOO_LARGE: {
    httpStatus: 413,
    retryable: false,
    message: 'The body is larger than {most} bytes. Send it in parts.',
  },
  MEDIA_TYPE_REFUSED: {
    httpStatus: 415,
    retryable: false,
    message: 'The body must be JSON. Send it with `Content-Type: application/json`.',
  },
  PAYLOAD_REMOVED: {
    httpStatus: 410,
    retryable: false,
    message:
      'The payload of event "{eventId}" of "{source}" is no longer stored. Restore it from an archive if there is one.',
  },
  ACTION_NOT_FOUND: {
    httpStatus: 404,
    retryable: false,
    message:
      'There is no action "{id}" in this process. Actions are kept where they were started, for an hour after they end.',
  },
  ACTIONS_FULL: {
    httpStatus: 429,
    retryable: true,
    message: '{most} actions are running. Wait until one ends, or cancel one.',
  },
  STREAMS_FULL: {
    httpStatus: 503,
    retryable: true,
    message: '{most} streams are open. Close one, or raise `maxStreams`.',
  },
  ADMIN_OPEN: {
    httpStatus: 500,
    retryable: false,
    message:
      'Listening on {host} would let anyone who can reach it use the admin API. Set HOOKONCE_ADMIN_TOKEN (or server.admin.tokens), listen on 127.0.0.1, or switch it off with server.admin: false.',
  },
  LISTEN_FAILED: {
    httpStatus: 500,
    retryable: true,
    message:
      'Cannot listen on {host}, port {port}: {problem}. Choose another with server.host and server.port, or HOOKONCE_HOST and HOOKONCE_PORT.',
  },
  CONFIG_MISSING: {
    httpStatus: 500,
    retryable: false,
    message: 'There is no configuration at {path}. Write one, or give the path of another.',
  },
  CONFIG_UNREADABLE: {
    httpStatus: 500,
    retryable: false,
    message: '{place} cannot be loaded: {problem}. Correct it there.',
  },
  CONFIG_INVALID: {
    httpStatus: 500,
    retryable: false,
    message: '{path} is not a valid configuration: {problem}. docs/configuration.md lists every key.',
  },
  ENV_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'The environment variable {name} is not set, or is empty. Set it where hookonce is started; the configuration reads it with env("{name}").',
  },
  UNEXPECTED: {
    httpStatus: 500,
    retryable: false,
    message: 'Something unexpected happened ({reference}). Look for that word in the log of the server.',
  },
  DESTINATION_FORBIDDEN: {
    httpStatus: 502,
    retryable: true,
    message:
      'The {what} leads to {address}, which is not a public address. Nothing was sent; if it is meant, add its range to allowPrivate.',
  },
  DESTINATION_FAILED: {
    httpStatus: 502,
    retryable: true,
    message: 'The {what} did not take it: {problem}. Check that the endpoint is up and answers 2xx.',
  },
  RETENTION_TOO_SHORT: {
    httpStatus: 500,
    retryable: false,
    message:
      'Events of source "{source}" would be kept for {age}, but {provider} may deliver one again for {window}: after that it would be taken for new. Keep events at least {window}.',
  },
  RETENTION_INVALID: {
    httpStatus: 500,
    retryable: false,
    message:
      'The retention of {what} is not valid: {problem}. Use an age such as 30d, 12h or a number of milliseconds.',
  },
  ARCHIVE_FAILED: {
    httpStatus: 503,
    retryable: true,
    message:
      'The archive {archive} could not {verb} {path} ({problem}). Nothing was removed from the log; check that it can be reached and written.',
  },
  ARCHIVE_DAMAGED: {
    httpStatus: 500,
    retryable: false,
    message:
      '{path} in the archive {archive} is not what was written: {problem}. Nothing is removed that depends on it; bring it back from a copy, or move its day away.',
  },
  ENCRYPTION_OPTIONS: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option encryption is not valid: {problem}. Give { current, keys }, each key 32 random bytes as base64, hex or a Buffer.',
  },
  ENCRYPTION_KEY_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'A payload of "{source}" is encrypted with the key "{key}", which is not among encryption.keys. Add it; keep old keys for as long as payloads and archives live.',
  },
  ENCRYPTION_KEY_WRONG: {
    httpStatus: 500,
    retryable: false,
    message:
      'A payload of "{source}" cannot be read with the key "{key}": it is another key of that name, or the bytes were changed. Check encryption.keys.',
  },
  ENCRYPTION_MISPLACED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The payload stored for event "{eventId}" of "{source}" belongs to another event: somebody has changed the log. Restore it from a backup, and find out who could write to it.',
  },
  ENCRYPTION_REQUIRED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The payload stored for event "{eventId}" of "{source}" is not encrypted, and encryption.required is true. If it is from before there were keys, set encryption.required to false until it has gone; else somebody has changed the log.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable

export class HookonceError extends Error {
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

export function invalid(what: string, problem: string): HookonceError {
  return new HookonceError('INVALID_INPUT', { what, problem })
}

function fill(message: string, details: Record<string, string | number>): string {
  return message.replace(/\{(\w+)\}/g, (_, key: string) => String(details[key] ?? `(${key})`))
}
