/**
 * The table of all errors. A code is stable and documented in `docs/errors.md` (a test compares the two).
 * A message says what happened, to what, and what to do next. It never contains a secret or a payload byte (I8).
 */
export interface ErrorEntry {
  /** The status of an HTTP answer with this error. */
  readonly httpStatus: number
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean
  readonly message: string
}

export const errorTable = {
  INVALID_INPUT: {
    httpStatus: 400,
    retryable: false,
    message: '{what} {problem}.',
  },
  UNKNOWN_SOURCE: {
    httpStatus: 404,
    retryable: false,
    message: 'There is no source named "{source}". Configured sources: {known}.',
  },
  EVENT_NOT_FOUND: {
    httpStatus: 404,
    retryable: false,
    message:
      'Source "{source}" has no event "{eventId}". Check the id; retention may have removed the event.',
  },
  EVENT_PROCESSING: {
    httpStatus: 409,
    retryable: true,
    message:
      'Event "{eventId}" of "{source}" is being processed. Wait until its attempt ends, then try again.',
  },
  MOVE_FORBIDDEN: {
    httpStatus: 409,
    retryable: false,
    message:
      'Event "{eventId}" of "{source}" is {state}, and {verb} is not possible in this state. Nothing was changed.',
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
      'The lease on event "{eventId}" of "{source}" is lost: it expired, or another worker took the event. Nothing was written.',
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
      'Another caller runs once("{key}") and did not finish within {waitMs} ms. Try again, or raise waitMs.',
  },
  KEY_LOST: {
    httpStatus: 409,
    retryable: true,
    message:
      'once("{key}") lost its lease while it ran, because it took longer than leaseMs. Its result was not stored. Raise leaseMs.',
  },
  RESULT_NOT_KEPT: {
    httpStatus: 500,
    retryable: false,
    message:
      'The {what} has run and will not run again, but its result was not stored: {problem}. Return only what later attempts need. To continue without the result, catch this error around once.',
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
  STORE_PRIVILEGE: {
    httpStatus: 503,
    retryable: true,
    message:
      'The database role of hookonce lacks a privilege: {problem}. Grant it, or run this step as the role that owns the schema; docs/postgresql.md has the statements for both roles.',
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
    message: 'The store is closed and cannot be used again. Open a new one.',
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
  STORE_LACKS: {
    httpStatus: 501,
    retryable: false,
    message:
      'The store {store} has no `{capability}`, and {feature} needs it. Use a store that has it, such as sqlite or postgres, or do without {feature}.',
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
  NOT_IN_BUNDLE: {
    httpStatus: 500,
    retryable: false,
    message:
      'This bundle does not contain {part}, and it is not installed beside the bundle. Import it in the code that is bundled and pass the store itself, such as sqlite("events.db") instead of "sqlite:events.db", or install hookonce where the bundle runs.',
  },
  TRANSACTION_CLOSED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The transaction has ended ({problem}). Use ctx.tx only inside the handler, and await every call on it.',
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
      'The connection was lost during COMMIT ({problem}); it is not known whether it took effect. Read the event back before you decide.',
  },
  SPOOL_FULL: {
    httpStatus: 503,
    retryable: true,
    message:
      'The spool has reached its limit of {maxBytes} bytes. Bring the database back, or raise spool.maxBytes; senders are told to retry.',
  },
  SPOOL_FAILED: {
    httpStatus: 503,
    retryable: true,
    message:
      'The spool "{path}" cannot be used: {problem}. Check its folder, its permissions and the free disk space; senders are told to retry.',
  },
  SECRET_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'Provider "{provider}" needs the option {option}, and it is missing, empty or blank. Set it; to accept deliveries without verification, use unverified(...) instead.',
  },
  SECRET_SHORT: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option {option} of provider "{provider}" has {found} bytes after decoding; at least {least} are needed. Check that you copied all of it.',
  },
  SECRET_FORM: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option {option} of provider "{provider}" must be {form}. Copy it exactly as the sender shows it.',
  },
  OPTION_UNKNOWN: {
    httpStatus: 500,
    retryable: false,
    message: 'Provider "{provider}" has no option "{option}".{suggestion} Known options: {known}.',
  },
  OPTION_INVALID: {
    httpStatus: 500,
    retryable: false,
    message: 'The option {option} of provider "{provider}" {problem}.',
  },
  SIGNING_UNAVAILABLE: {
    httpStatus: 500,
    retryable: false,
    message:
      'Provider "{provider}" cannot sign a delivery: {problem}. Make a key pair with generateKeys() and pass both keys to the factory.',
  },
  UNAUTHENTICATED: {
    httpStatus: 401,
    retryable: false,
    message:
      'This request needs a token. Send it as `Authorization: Bearer <token>`, or sign in on the page.',
  },
  TOKEN_REFUSED: {
    httpStatus: 401,
    retryable: false,
    message: 'The token or session is unknown or has expired. Sign in again with a token of this server.',
  },
  SIGN_IN_LIMITED: {
    httpStatus: 429,
    retryable: true,
    message: 'Too many wrong tokens came from this address. Wait {retryAfterS} seconds, then sign in again.',
  },
  FORBIDDEN: {
    httpStatus: 403,
    retryable: false,
    message: 'The role {role} is not allowed to do this. Use a token with the role {roles}.',
  },
  READ_ONLY: {
    httpStatus: 403,
    retryable: false,
    message:
      'This admin API is read-only (`readOnly`), so nothing was changed. Use an admin API without that option.',
  },
  HOST_REFUSED: {
    httpStatus: 421,
    retryable: false,
    message:
      'The Host header names a host that is not allowed for this server. If the name is yours, add it to `hosts`.',
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
    message: 'There is no such path. `/api/openapi.json` lists all paths.',
  },
  DASHBOARD_MISSING: {
    httpStatus: 404,
    retryable: false,
    message: 'The files of the dashboard have not been built. Run `npm run build` in the source of hookonce.',
  },
  METHOD_REFUSED: {
    httpStatus: 405,
    retryable: false,
    message: 'This path does not support that method. Supported: {allow}.',
  },
  BODY_TOO_LARGE: {
    httpStatus: 413,
    retryable: false,
    message: 'The body is larger than {most} bytes. Split the request.',
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
      'There is no action "{id}" in this process. Ask the process that started it; an action is kept for an hour after it ends.',
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
      'Refused to listen on {host}: anyone who can reach this address could use the admin API. Set HOOKONCE_ADMIN_TOKEN (or server.admin.tokens), listen on 127.0.0.1, or switch it off with server.admin: false.',
  },
  LISTEN_FAILED: {
    httpStatus: 500,
    retryable: true,
    message:
      'Cannot listen on {host}, port {port}: {problem}. Choose another address with server.host and server.port, or HOOKONCE_HOST and HOOKONCE_PORT.',
  },
  CONFIG_MISSING: {
    httpStatus: 500,
    retryable: false,
    message: 'There is no configuration file at {path}. Create it, or pass another path.',
  },
  CONFIG_UNREADABLE: {
    httpStatus: 500,
    retryable: false,
    message: '{place} could not be loaded: {problem}. Correct the file at this place.',
  },
  CONFIG_INVALID: {
    httpStatus: 500,
    retryable: false,
    message: '{path} has an error: {problem}. docs/configuration.md lists every key.',
  },
  ENV_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      '{name} is not set ({use}). Set it in the environment of this process, or in a file: hookonce dev reads .env, other commands take --env-file.{more}',
  },
  UNEXPECTED: {
    httpStatus: 500,
    retryable: false,
    message: 'An unexpected error happened. The log of the server describes it under {reference}.',
  },
  DESTINATION_FORBIDDEN: {
    httpStatus: 502,
    retryable: true,
    message:
      "The {what} resolves to {address}, which is not a public address. Nothing was sent. To allow it, add allowPrivate: ['{range}'] to its options.",
  },
  DESTINATION_FAILED: {
    httpStatus: 502,
    retryable: true,
    message: 'The request to the {what} failed: {problem}. Check that the endpoint is up and answers 2xx.',
  },
  RETENTION_TOO_SHORT: {
    httpStatus: 500,
    retryable: false,
    message:
      'Events of source "{source}" would be kept for {age}, but {provider} retries for {window}, and a late retry would be a new event. Keep events at least {window}.',
  },
  RETENTION_INVALID: {
    httpStatus: 500,
    retryable: false,
    message: 'In retention, {what} {problem}. An age is written as 30d, 12h or a number of milliseconds.',
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
      '{path} in the archive {archive} is damaged: {problem}. Payloads that depend on it are not removed. Restore it from a copy, or move the folder of its day away.',
  },
  ENCRYPTION_OPTIONS: {
    httpStatus: 500,
    retryable: false,
    message:
      'The option encryption {problem}. It takes { current, keys }, each key 32 random bytes as base64, hex or a Buffer.',
  },
  ENCRYPTION_KEY_MISSING: {
    httpStatus: 500,
    retryable: false,
    message:
      'A payload of "{source}" is encrypted with the key "{key}", which is not in encryption.keys. Add it, and keep old keys as long as payloads and archives exist.',
  },
  ENCRYPTION_KEY_WRONG: {
    httpStatus: 500,
    retryable: false,
    message:
      'A payload of "{source}" cannot be read with the key "{key}": this is another key with the same name, or the stored bytes were changed. Check encryption.keys.',
  },
  ENCRYPTION_MISPLACED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The payload stored for event "{eventId}" of "{source}" belongs to another event, so somebody has changed the log. Restore the payload from a backup, and find out who can write to the log.',
  },
  ENCRYPTION_REQUIRED: {
    httpStatus: 500,
    retryable: false,
    message:
      'The payload stored for event "{eventId}" of "{source}" is not encrypted, and encryption.required is true. If it was stored before you turned encryption on, set encryption.required to false until it is removed. Otherwise somebody has changed the log.',
  },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorTable
