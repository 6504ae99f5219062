/**
 * Expectations about a delivery: as matchers (`expect.extend(matchers)` in vitest and jest), and as functions that throw, for
 * node:test.
 */
import { AssertionError } from 'node:assert'
import type { Receipt } from '../../intake/answer.js'
import type { EventState } from './test-inbox.js'

type Looked = EventState & Partial<Receipt>
type Text = string | RegExp

interface Check {
  readonly holds: boolean
  /** The expectation in words: "to have succeeded". */
  readonly expectation: string
}

const checks = {
  /** The event was handled, and its effects are committed. */
  toHaveSucceeded: ({ state }: Looked): Check => ({
    holds: state === 'succeeded',
    expectation: 'to have succeeded',
  }),
  /** The last attempt failed, with this error; with a next attempt or as a dead letter. */
  toHaveFailed: ({ state, error }: Looked, text: Text = ''): Check => ({
    holds: state === 'failed' && matches(error, text),
    expectation: `to have failed${text === '' ? '' : ` with ${text}`}`,
  }),
  /** It ended as ignored: by `ctx.ignore`, by a schema, or because no handler is registered for its type. */
  toBeIgnored: ({ state, error }: Looked, reason: Text = ''): Check => ({
    holds: state === 'ignored' && matches(error, reason),
    expectation: `to be ignored${reason === '' ? '' : ` as ${reason}`}`,
  }),
  /** The event was known, and was not handled again because of this delivery. */
  toBeDuplicate: ({ duplicate, httpStatus }: Looked): Check => ({
    holds: duplicate === true && (httpStatus ?? 500) < 300,
    expectation: 'to be a duplicate',
  }),
  /** The sender got this status, such as 401. */
  toBeAnsweredWith: ({ httpStatus }: Looked, expected: number): Check => ({
    holds: httpStatus === expected,
    expectation: `to be answered with ${expected}`,
  }),
} as const

function matches(text: string | null, expected: Text): boolean {
  if (typeof expected === 'string') return (text ?? '').includes(expected)
  return expected.test(text ?? '')
}

function found({ httpStatus, status, state, duplicate, attempts, error }: Looked): string {
  const count = attempts.length
  const answer = httpStatus === undefined ? '' : `answered with ${httpStatus} ${status}, `
  const known = duplicate === undefined ? '' : duplicate ? ', a duplicate' : ', no duplicate'
  return `Found: ${answer}state ${state}, ${count} attempt${count === 1 ? '' : 's'}${known}${
    error === null ? '' : `, error: ${error}`
  }.`
}

/** For `declare module 'vitest' { interface Matchers<T> extends HookonceMatchers<T> {} }`. */
export interface HookonceMatchers<R = unknown> {
  toHaveSucceeded(): R
  toHaveFailed(text?: Text): R
  toBeIgnored(reason?: Text): R
  toBeDuplicate(): R
  toBeAnsweredWith(httpStatus: number): R
}

interface MatcherResult {
  readonly pass: boolean
  message(): string
}

type Matchers = {
  readonly [Name in keyof typeof checks]: (
    delivered: Looked,
    ...args: Parameters<(typeof checks)[Name]> extends [Looked, ...infer Rest] ? Rest : never
  ) => MatcherResult
}

export const matchers: Matchers = Object.fromEntries(
  Object.entries(checks).map(([name, check]) => [
    name,
    (delivered: Looked, ...args: unknown[]): MatcherResult => {
      const { holds, expectation } = (check as (...all: unknown[]) => Check)(delivered, ...args)
      return {
        pass: holds,
        message: () => `Expected the delivery ${holds ? 'not ' : ''}${expectation}. ${found(delivered)}`,
      }
    },
  ]),
) as unknown as Matchers

export function assertSucceeded(delivered: Looked): void {
  insist(delivered, checks.toHaveSucceeded(delivered), assertSucceeded)
}

export function assertFailed(delivered: Looked, text?: Text): void {
  insist(delivered, checks.toHaveFailed(delivered, text), assertFailed)
}

export function assertIgnored(delivered: Looked, reason?: Text): void {
  insist(delivered, checks.toBeIgnored(delivered, reason), assertIgnored)
}

export function assertDuplicate(delivered: Looked): void {
  insist(delivered, checks.toBeDuplicate(delivered), assertDuplicate)
}

function insist(delivered: Looked, { holds, expectation }: Check, caller: (...args: never[]) => void): void {
  if (holds) return
  throw new AssertionError({
    message: `Expected the delivery ${expectation}. ${found(delivered)}`,
    stackStartFn: caller,
  })
}
