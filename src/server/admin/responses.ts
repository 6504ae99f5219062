/** Errors as problem documents (RFC 9457), and the headers of every response. */
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
 * The text of an unexpected error may quote a payload. So the caller gets a reference, and the logger only the name of
 * the error.
 */
export function problemOf(error: unknown, log: Logger): Response {
  if (isHookonceError(error)) return problem(error)
  const reference = randomUUID().slice(0, 8)
  log.error(
    { step: 'admin', reference, problem: error instanceof Error ? error.name : typeof error },
    'a request to the admin API failed with an unexpected error',
  )
  return problem(new HookonceError('UNEXPECTED', { reference }))
}

const headers: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

export function secured(response: Response): Response {
  const answer = new Response(response.body, response)
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'cache-control' && answer.headers.has(name)) continue
    answer.headers.set(name, value)
  }
  return answer
}
