/** Errors as RFC 9457 problem documents, with the codes of the error table. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { HookonceError, isHookonceError } from '../../errors.js'
import type { Logger } from '../../log.js'

export function problem(error: HookonceError, headers: Record<string, string> = {}): Response {
  const { httpStatus, code, message, retryable } = error
  const retryAfter = retryable && httpStatus >= 429 ? String(error.details.retryAfterS ?? 1) : null
  return new Response(
    JSON.stringify({
      type: `urn:hookonce:error:${code}`,
      title: STATUS_CODES[httpStatus] ?? 'Error',
      status: httpStatus,
      detail: message,
      code,
    }),
    {
      status: httpStatus,
      headers: {
        'content-type': 'application/problem+json',
        ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
        ...headers,
      },
    },
  )
}

/**
 * What went wrong, for the caller. An error that is not ours may quote anything, so its words stay here: the caller gets
 * a reference, the log the name of the error (I8).
 */
export function problemOf(error: unknown, log: Logger): Response {
  if (isHookonceError(error)) return problem(error)
  const reference = randomUUID().slice(0, 8)
  log.error(
    { step: 'admin', reference, problem: error instanceof Error ? error.name : typeof error },
    'unexpected',
  )
  return problem(new HookonceError('UNEXPECTED', { reference }))
}
