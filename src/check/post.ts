/**
 * HTTP as a sender speaks it: one connection each, no redirects, and every wait bounded. Deliveries that go together hold
 * back their last byte until all connections stand, so that they reach the endpoint as nearly at once as can be.
 */
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '../provider.js'

export interface Answer {
  /** Null when no answer came; `problem` says why. */
  readonly status: number | null
  readonly problem: string | null
  readonly timedOut: boolean
  /** From the last byte sent to the answer. */
  readonly ms: number
  /** The beginning of the answer, printable. */
  readonly excerpt: string
}

const EXCERPT_BYTES = 4_096

export const isOk = (answer: Answer): boolean =>
  answer.status !== null && answer.status >= 200 && answer.status < 300

export async function post(delivery: Delivery, timeoutMs: number): Promise<Answer> {
  const open = start(delivery, timeoutMs)
  open.finish(delivery.body)
  return open.answer
}

export async function postTogether(deliveries: readonly Delivery[], timeoutMs: number): Promise<Answer[]> {
  const opened = deliveries.map((delivery) => ({ delivery, open: start(delivery, timeoutMs) }))
  await Promise.all(
    opened.map(async ({ delivery, open }) => {
      await open.connected
      if (delivery.body.byteLength > 1) await open.write(delivery.body.subarray(0, -1))
    }),
  )
  for (const { delivery, open } of opened) open.finish(delivery.body.subarray(-1))
  return Promise.all(opened.map(({ open }) => open.answer))
}

/** In a few pieces with pauses, as over a bad line. */
export async function postSlowly(delivery: Delivery, pauseMs: number, timeoutMs: number): Promise<Answer> {
  const open = start(delivery, timeoutMs)
  await open.connected
  const pieces = 8
  const size = Math.max(1, Math.ceil(delivery.body.byteLength / pieces))
  for (let at = 0; at + size < delivery.body.byteLength; at += size) {
    await open.write(delivery.body.subarray(at, at + size))
    await sleep(pauseMs)
  }
  open.finish(delivery.body.subarray(size * (Math.ceil(delivery.body.byteLength / size) - 1)))
  return open.answer
}

interface Open {
  readonly connected: Promise<void>
  readonly answer: Promise<Answer>
  write(bytes: Uint8Array): Promise<void>
  finish(bytes: Uint8Array): void
}

function start(delivery: Delivery, timeoutMs: number): Open {
  const url = new URL(delivery.url)
  const make = url.protocol === 'https:' ? httpsRequest : httpRequest
  const request = make(url, {
    method: delivery.method,
    agent: false,
    headers: {
      'user-agent': 'hookonce-check',
      ...delivery.headers,
      ...(delivery.method === 'GET' ? {} : { 'content-length': delivery.body.byteLength }),
    },
  })
  let sentAt = performance.now()
  const answer = answerOf(request, timeoutMs, () => performance.now() - sentAt)
  const over = answer.then(() => {})
  return {
    // Whatever happens to one of them, the others do not wait for it.
    connected: Promise.race([once(request), over]),
    answer,
    write: (bytes) =>
      Promise.race([new Promise<void>((resolve) => request.write(bytes, () => resolve())), over]),
    finish(bytes) {
      sentAt = performance.now()
      if (!request.destroyed) request.end(bytes)
    },
  }
}

function once(request: ClientRequest): Promise<void> {
  request.flushHeaders()
  return new Promise((resolve) => {
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => resolve())
      else resolve()
    })
  })
}

function answerOf(request: ClientRequest, timeoutMs: number, elapsed: () => number): Promise<Answer> {
  return new Promise((resolve) => {
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      request.destroy(new Error(`none within ${timeoutMs} ms`))
    }, timeoutMs)
    const settle = (answer: Omit<Answer, 'ms' | 'timedOut'>) => {
      clearTimeout(timer)
      resolve({ ...answer, timedOut, ms: elapsed() })
    }
    request.once('error', (error: NodeJS.ErrnoException) => {
      settle({ status: null, problem: error.code ?? error.message, excerpt: '' })
    })
    let answered = false
    // A 101 closes the connection with neither an answer nor an error.
    request.once('close', () => {
      if (!answered) settle({ status: null, problem: 'closed without an answer', excerpt: '' })
    })
    request.once('response', (response) => {
      answered = true
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        if (size < EXCERPT_BYTES) chunks.push(chunk)
        size += chunk.byteLength
      })
      const done = () => {
        const location = response.headers.location
        const text = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8')
        settle({
          status: response.statusCode ?? null,
          problem: null,
          excerpt: printable(location === undefined ? text : `redirects to ${location}`),
        })
      }
      response.once('end', done)
      // The status is the answer, also when its body breaks off.
      response.once('error', done)
    })
  })
}

/** An answer may hold anything, also what moves a terminal's cursor. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}
