/**
 * All errors. A code is stable and documented in `docs/errors.md` (a test compares the two). A message says what happened, to
 * what, and what to do next. It never contains a secret or a payload byte.
 */
export interface ErrorEntry {
  readonly httpStatus: number
  /** True when a repeated call may succeed without a change by the caller. */
  readonly retryable: boolean
  readonly message: string
}

/** A repeated call fails until the caller or the configuration changes. */
const final = (httpStatus: number, message: string): ErrorEntry => ({ httpStatus, retryable: false, message })

const retryable = (httpStatus: number, message: string): ErrorEntry => ({
  httpStatus,
  retryable: true,
  message,
})

export const errorTable = {
  INVALID_INPUT: final(400, '{what} {problem}.'),
  UNKNOWN_SOURCE: final(404, 'There is no source named "{source}" ({hint}).'),
  EVENT_NOT_FOUND: final(
    404,
    'Source "{source}" has no event "{eventId}". Check the id; retention may have removed the event.',
  ),
  ROW_NOT_FOUND: final(404, 'The table "{table}" has no row with the key {key}. Check the key.'),
  EVENT_PROCESSING: retryable(
    409,
    'Event "{eventId}" of "{source}" is being processed. Wait until its attempt ends, then try again.',
  ),
  MOVE_FORBIDDEN: final(
    409,
    'Event "{eventId}" of "{source}" is {state}, and {verb} is not possible in this state: failed and ignored events are retried, succeeded ones replayed. Nothing was changed.',
  ),
  FORCE_NEEDED: final(
    409,
    'Event "{eventId}" of "{source}" has succeeded. Replay it with force if its effects may happen again.',
  ),
  EVENT_REFUSED: final(
    400,
    'The store refused event "{eventId}" of "{source}": {problem}. Other events were not affected.',
  ),
  LEASE_LOST: final(
    409,
    'The lease on event "{eventId}" of "{source}" is lost: it expired, or another worker took the event. Nothing was written.',
  ),
  BODY_CONSUMED: final(
    500,
    'The body of POST {path} was read before hookonce got it, so its signature cannot be checked. In Express, move the line app.use(express.json()) (or bodyParser.json()) below the line that mounts hookonce. Elsewhere, give hookonce the request before its body is read, or a clone of it.',
  ),
  KEY_BUSY: retryable(
    409,
    'Another caller runs once("{key}") and did not finish within {waitMs} ms. Try again, or raise `wait`.',
  ),
  KEY_LOST: retryable(
    409,
    'once("{key}") lost its lease while it ran, because it took longer than `lease`. Its result was not stored. Raise `lease`.',
  ),
  RESULT_NOT_KEPT: final(
    500,
    'The {what} has run and will not run again, but its result was not stored: {problem}. Return only what later attempts need. To continue without the result, catch this error around once.',
  ),
  STORE_UNAVAILABLE: retryable(
    503,
    'The store cannot be reached ({problem}). Check that the database is up; senders are told to retry.',
  ),
  STORE_BUSY: retryable(503, 'The store is busy: {problem}. Try again in a moment.'),
  POOL_EXHAUSTED: retryable(
    503,
    'No transaction could begin within {waitedMs} ms: other transactions hold every connection for handlers (on SQLite, the one writer). The event is retried and no attempt is used up. Make transactions shorter, raise maxTransactions (or the max of your pool), or lower processing.concurrency.',
  ),
  STORE_PRIVILEGE: retryable(
    503,
    'The database role of hookonce lacks a privilege: {problem}. Grant it, or run this step as the role that owns the schema; docs/postgresql.md has the statements for both roles.',
  ),
  STORE_FULL: retryable(
    503,
    'The store has no space left ({problem}). Free some space or prune; nothing already recorded is affected.',
  ),
  STORE_CLOSED: final(503, 'The store is closed and cannot be used again. Open a new one.'),
  STORE_FAILED: final(
    500,
    'The store failed: {problem}. This is a bug or a damaged database; run `hookonce doctor`.',
  ),
  STORE_URL: final(
    500,
    'The store URL "{url}" is not understood. Use sqlite:path/to/file.db, sqlite::memory: or postgres://user@host/db.',
  ),
  STORE_LACKS: final(
    501,
    'The store {store} has no `{capability}`, and {feature} needs it. Use a store that has it, such as sqlite or postgres, or do without {feature}.',
  ),
  SCHEMA_NEWER: final(
    500,
    'The log has schema {found}, which needs a hookonce that knows schema {needed}; this one knows up to {known}. Use {upgrade} before it touches this log.',
  ),
  SCHEMA_MISSING: final(
    500,
    'The log has schema {found}, this hookonce needs {known}. Run `hookonce migrate up` (or call store.migrate()) first.',
  ),
  DRIVER_MISSING: final(500, '{driver} is not installed. Run: npm install {driver}'),
  NOT_IN_BUNDLE: final(
    500,
    'This bundle does not contain {part}, and it is not installed beside the bundle. Import it in the code that is bundled and pass the store itself, such as sqlite("events.db") instead of "sqlite:events.db", or install hookonce where the bundle runs.',
  ),
  TRANSACTION_CLOSED: final(
    500,
    'The transaction has ended ({problem}). Use ctx.tx only inside the handler, and await every call on it.',
  ),
  TRANSACTION_ABORTED: retryable(
    500,
    'An SQL error inside the handler was caught and not rethrown, so PostgreSQL aborted the transaction. Rethrow it, or wrap that statement in a savepoint.',
  ),
  COMMIT_UNKNOWN: retryable(
    503,
    'The connection was lost during COMMIT ({problem}); it is not known whether it took effect. Read the event back before you decide.',
  ),
  SPOOL_FULL: retryable(
    503,
    'The spool has reached its limit of {maxBytes} bytes. Bring the database back, or raise spool.maxBytes; senders are told to retry.',
  ),
  SPOOL_FAILED: retryable(
    503,
    'The spool "{path}" cannot be used: {problem}. Check its folder, its permissions and the free disk space; senders are told to retry.',
  ),
  SECRET_MISSING: final(
    500,
    'Provider "{provider}" needs the option {option}, and it is missing, empty or blank. Set it; to accept deliveries without verification, use unverified(...) instead.',
  ),
  SECRET_SHORT: final(
    500,
    'The option {option} of provider "{provider}" has {found} bytes after decoding; at least {least} are needed. Check that you copied all of it.',
  ),
  SECRET_FORM: final(
    500,
    'The option {option} of provider "{provider}" must be {form}. Copy it exactly as the sender shows it.',
  ),
  OPTION_UNKNOWN: final(
    500,
    'Provider "{provider}" has no option "{option}".{suggestion} Known options: {known}.',
  ),
  OPTION_INVALID: final(500, 'The option {option} of provider "{provider}" {problem}.'),
  SIGNING_UNAVAILABLE: final(
    500,
    'Provider "{provider}" cannot sign a delivery: {problem}. Make a key pair with generateKeys() and pass both keys to the factory.',
  ),
  UNAUTHENTICATED: final(
    401,
    'This request needs a token. Send it as `Authorization: Bearer <token>`, or sign in on the page.',
  ),
  TOKEN_REFUSED: final(
    401,
    'The token or session is unknown or has expired. Sign in again with a token of this server.',
  ),
  SIGN_IN_LIMITED: retryable(
    429,
    'Too many wrong tokens came from this address. Wait {retryAfterS} seconds, then sign in again.',
  ),
  FORBIDDEN: final(403, 'The role {role} is not allowed to do this. Use a token with the role {roles}.'),
  HOST_REFUSED: final(
    421,
    'The Host header names a host that is not allowed for this server. If the name is yours, add it to `hosts`.',
  ),
  ORIGIN_REFUSED: final(
    403,
    'The request comes from a page of another origin. Call the API from its own page, or with a bearer token from a program.',
  ),
  ROUTE_UNKNOWN: final(404, 'There is no such path. `/api/openapi.json` lists all paths.'),
  DASHBOARD_MISSING: final(
    404,
    'The files of the dashboard have not been built. Run `npm run build` in the source of hookonce.',
  ),
  METHOD_REFUSED: final(405, 'This path does not support that method. Supported: {allow}.'),
  BODY_TOO_LARGE: final(413, 'The body is larger than {most} bytes. Split the request.'),
  MEDIA_TYPE_REFUSED: final(415, 'The body must be JSON. Send it with `Content-Type: application/json`.'),
  PAYLOAD_REMOVED: final(
    410,
    'The payload of event "{eventId}" of "{source}" is not stored. If it was archived, restore it from the archive first; an erased payload cannot be restored.',
  ),
  CONFLICT_NOT_FOUND: final(
    404,
    'Event "{eventId}" of "{source}" has no such conflict. `replay` needs the bytes of the other content, which retention removes with the payloads of its age; without them, `ignore` still closes the conflict. `ignore` needs a conflict that nobody has decided about.',
  ),
  CONFLICT_CHANGED: final(
    409,
    'The other content of event "{eventId}" of "{source}" that the action names is not open: somebody has decided about it, or it is the content of the event now. Nothing was changed. Look at the event again, compare the contents, and name the `hash` of the one that is open.',
  ),
  PAYLOAD_UNREADABLE: final(
    409,
    'The payload of event "{eventId}" of "{source}" cannot be decrypted. Nothing was changed. Check the keys of the option `encryption`.',
  ),
  ACTION_NOT_FOUND: final(
    404,
    'There is no action "{id}" in this process. Ask the process that started it; an action is kept for an hour after it ends.',
  ),
  ACTIONS_FULL: retryable(429, '{most} actions are running. Wait until one ends, or cancel one.'),
  STREAMS_FULL: retryable(503, '{most} streams are open, and there can be no more. Close one.'),
  ADMIN_OPEN: final(
    500,
    'Refused to listen on {host}: anyone who can reach this address could use the admin API. Set HOOKONCE_ADMIN_TOKEN (or server.admin.tokens), listen on 127.0.0.1, or switch it off with server.admin: false.',
  ),
  LISTEN_FAILED: retryable(
    500,
    'Cannot listen on {host}, port {port}: {problem}. Choose another address with server.host and server.port, or HOOKONCE_HOST and HOOKONCE_PORT.',
  ),
  CONFIG_MISSING: final(500, 'There is no configuration file at {path}. Create it, or pass another path.'),
  CONFIG_UNREADABLE: final(500, '{place} could not be loaded: {problem}. Correct the file at this place.'),
  CONFIG_INVALID: final(500, '{path} has an error: {problem}. docs/reference/options.md lists every key.'),
  ENV_MISSING: final(
    500,
    '{name} is not set ({use}). Set it in the environment of this process, or in a file: hookonce dev reads .env, other commands take --env-file.{more}',
  ),
  UNEXPECTED: final(
    500,
    'An unexpected error happened. The log of the server describes it under {reference}.',
  ),
  DESTINATION_FORBIDDEN: retryable(
    502,
    "The {what} resolves to {address}, which is not a public address. Nothing was sent. To allow it, add allowPrivate: ['{range}'] to its options.",
  ),
  DESTINATION_FAILED: retryable(
    502,
    'The request to the {what} failed: {problem}. Check that the endpoint is up and answers 2xx.',
  ),
  SENDER_REFUSED: final(502, '{name} refused {what} with status {status}{said}. {fix}.'),
  SENDER_FAILED: retryable(
    502,
    'The API of {name} could not be read ({what}): {problem}. What was recorded stays; run reconcile again.',
  ),
  RECONCILE_UNAVAILABLE: final(409, 'Source "{source}" cannot be compared with its sender: {problem}.'),
  RECONCILE_BUSY: retryable(
    409,
    'Source "{source}" is being compared with its sender by another run. Wait until it ends; its report is in `hookonce reconcile {source} --last`.',
  ),
  ARCHIVE_FAILED: retryable(
    503,
    'The archive {archive} could not {verb} {path} ({problem}). Nothing was removed from the log; check that it can be reached and written.',
  ),
  ARCHIVE_DAMAGED: final(
    500,
    '{path} in the archive {archive} is damaged: {problem}. Payloads that depend on it are not removed. Restore it from a copy, or move the folder of its day away.',
  ),
  ENCRYPTION_KEY_MISSING: final(
    500,
    'A payload of "{source}" is encrypted with the key "{key}", which is not in encryption.keys. Add it, and keep old keys as long as payloads and archives exist.',
  ),
  ENCRYPTION_KEY_WRONG: final(
    500,
    'A payload of "{source}" cannot be read with the key "{key}": this is another key with the same name, or the stored bytes were changed. Check encryption.keys.',
  ),
  ENCRYPTION_MISPLACED: final(
    500,
    'The payload stored for event "{eventId}" of "{source}" belongs to another event or to other content, so somebody has changed the log. Restore the payload from a backup, and find out who can write to the log.',
  ),
  ENCRYPTION_REQUIRED: final(
    500,
    'The payload stored for event "{eventId}" of "{source}" is not encrypted, and encryption.required is true. If it was stored before you turned encryption on, set encryption.required to false until it is removed. Otherwise somebody has changed the log.',
  ),
}

export type ErrorCode = keyof typeof errorTable
