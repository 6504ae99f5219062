/**
 * Each delivery has its own connection. Simultaneous deliveries arrive together: all connections are opened first, then
 * the last byte of each is sent.
 */
import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerTo, openRequest, timeLimit } from '../http-exchange.js'
import type { Delivery } from '../provider.js'

export interface Answer {
  /** Null when no answer arrived; `problem` has the reason. */
  readonly status: number | null
  readonly problem: string | null
  readonly timedOut: boolean
  /** From the last byte of the request to the end of the answer. */
  readonly ms: number
  /** The beginning of the body, without control characters. */
  readonly excerpt: string
}

const EXCERPT_BYTES = 4_096

export const isOk = (answer: Answer): boolean =>
  answer.status !== null && answer.status >= 200 && answer.status < 300

export async function post(delivery: Delivery, timeoutMs: number): Promise<Answer> {
  const opened = open(delivery, timeoutMs)
  opened.finish(delivery.body)
  return opened.answer
}

export async function postAtOnce(deliveries: readonly Delivery[], timeoutMs: number): Promise<Answer[]> {
  const all = deliveries.map((delivery) => ({ body: delivery.body, opened: open(delivery, timeoutMs) }))
  await Promise.all(
    all.map(async ({ body, opened }) => {
      await opened.connected
      if (body.byteLength > 1) await opened.write(body.subarray(0, -1))
    }),
  )
  for (const { body, opened } of all) opened.finish(body.subarray(-1))
  return Promise.all(all.map(({ opened }) => opened.answer))
}

/** Eight pieces with pauses between them, as over a slow connection. */
export async function postSlowly(delivery: Delivery, pauseMs: number, timeoutMs: number): Promise<Answer> {
  const { body } = delivery
  const opened = open(delivery, timeoutMs)
  await opened.connected
  const size = Math.max(1, Math.ceil(body.byteLength / 8))
  for (let at = 0; at + size < body.byteLength; at += size) {
    await opened.write(body.subarray(at, at + size))
    await sleep(pauseMs)
  }
  opened.finish(body.subarray(size * (Math.ceil(body.byteLength / size) - 1)))
  return opened.answer
}

interface OpenDelivery {
  readonly connected: Promise<void>
  readonly answer: Promise<Answer>
  write(bytes: Uint8Array): Promise<void>
  finish(bytes: Uint8Array): void
}

function open(delivery: Delivery, timeoutMs: number): OpenDelivery {
  const headers = { 'user-agent': 'hookonce-check', ...delivery.headers }
  const request = openRequest({ ...delivery, headers }, false)
  let sentAt = performance.now()
  const answer = readAnswer(request, timeoutMs, () => performance.now() - sentAt)
  const ended = answer.then(() => {})
  return {
    // One connection that fails must not keep the others waiting.
    connected: Promise.race([connected(request), ended]),
    answer,
    write: (bytes) =>
      Promise.race([new Promise<void>((resolve) => request.write(bytes, () => resolve())), ended]),
    finish(bytes) {
      sentAt = performance.now()
      if (!request.destroyed) request.end(bytes)
    },
  }
}

function connected(request: ClientRequest): Promise<void> {
  request.flushHeaders()
  return new Promise((resolve) => {
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => resolve())
      else resolve()
    })
  })
}

async function readAnswer(
  request: ClientRequest,
  timeoutMs: number,
  elapsedMs: () => number,
): Promise<Answer> {
  const { signal, clear } = timeLimit(timeoutMs)
  try {
    const { httpStatus, headers, body } = await answerTo(request, { signal, keepBytes: EXCERPT_BYTES })
    const text = headers.location === undefined ? body.toString('utf8') : `redirects to ${headers.location}`
    return {
      status: httpStatus,
      problem: null,
      timedOut: signal.aborted,
      ms: elapsedMs(),
      excerpt: printable(text),
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = signal.aborted ? `none within ${timeoutMs} ms` : (code ?? message)
    return { status: null, problem, timedOut: signal.aborted, ms: elapsedMs(), excerpt: '' }
  } finally {
    clear()
  }
}

/** Control characters could move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}
