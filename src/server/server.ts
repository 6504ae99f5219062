/**
 * `POST /webhooks/<source>` goes straight to intake. `/healthz`, `/readyz` and `/metrics` are answered here, all other
 * requests by the admin API. Intake accepts any Host header; the admin API checks Host and Origin.
 */
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathOf } from '../adapters/node.js'
import { atMost } from '../clock.js'
import type { Duration } from '../duration.js'
import type { WholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import type { IntakeLimits } from '../intake/receive.js'
import { checkedMs } from '../options.js'
import { checkExposure, type Listening, listen, readTls } from './bind.js'
import { drainConnections } from './drain.js'
import { createHealth } from './health.js'
import { createMetrics } from './metrics.js'
import { type MountedInbox, mountInbox } from './mounted-inbox.js'
import { type ServerOptions, type ServerSettings, serverSettings } from './options.js'
import { createRequests, onClientError } from './requests.js'
import { callers } from './trust-proxy.js'

export interface HookonceServer extends AsyncDisposable {
  /** Opens the port. It does not start the inbox: call `inbox.start()` for handlers to run in this process. */
  listen(): Promise<Listening>
  /**
   * Stops accepting connections, finishes accepted requests, then stops the inbox, within `deadline` (default `drain`).
   * A second call can shorten the deadline: `close({ deadline: 0 })` stops at once. With `lameDuck`, the server accepts
   * requests for `lameDuck` more, and says that it is stopping.
   */
  close(options?: CloseOptions): Promise<void>
  /**
   * Serves another inbox from the next request on. Resolves to the previous inbox when no request uses it any more. The
   * previous inbox goes on handling its events until you stop it.
   */
  swap(next: Inbox): Promise<Inbox>
  readonly inbox: Inbox
  readonly node: Server
}

export interface CloseOptions {
  readonly deadline?: Duration
  readonly lameDuck?: boolean
}

/** At most this share of the deadline accepts new requests. */
const LAME_DUCK_SHARE = 5 / 8
/** Requests get this share of the deadline, running handlers the rest. */
const REQUESTS_SHARE = 0.75

export function createServer(inbox: Inbox, options: ServerOptions = {}): HookonceServer {
  const settings = serverSettings(options)
  checkExposure(settings)
  const proxies = callers(settings.trustProxy)
  let current: MountedInbox = mountInbox(inbox, settings, proxies)
  let closing: Promise<void> | null = null
  const now = new AbortController()
  const answerHealth = createHealth(
    () => current.inbox,
    () => closing !== null,
    settings,
  )
  const answerMetrics = createMetrics(
    () => current.inbox,
    settings,
    (request) => proxies.callerOf(request).address,
  )
  const requests = createRequests()
  const node = createNode(settings, current.inbox.limits, handle)
  node.on(
    'clientError',
    onClientError((refusal) => current.inbox.refused(null, refusal), requests.isBusy),
  )
  node.on('drop', onDrop(current.inbox))

  function handle(request: IncomingMessage, response: ServerResponse): void {
    requests.begin(response, current)
    const path = pathOf(request.url ?? '/')
    if (path.startsWith('/webhooks/')) current.intake(request, response)
    else if (!answerHealth(path, request, response) && !answerMetrics(path, request, response))
      current.other(request, response)
  }

  async function close(deadlineMs: number, lameDuckMs: number): Promise<void> {
    const until = performance.now() + deadlineMs
    const leftMs = () => (now.signal.aborted ? 0 : Math.max(0, until - performance.now()))
    requests.closeAfter()
    current.endStreams()
    if (node.listening) await pause(Math.min(lameDuckMs, deadlineMs * LAME_DUCK_SHARE), now.signal)
    const wasBusy = requests.recentlyBusy
    await drainConnections(node, { deadlineMs: leftMs() * REQUESTS_SHARE, wasBusy, now: now.signal })
    const left = leftMs()
    await withinTime(stopInbox(current.inbox, left), left + ABORTED_GRACE_MS, now.signal)
  }

  const server: HookonceServer = {
    listen: () => listen(node, settings),
    close({ deadline, lameDuck = false } = {}) {
      const deadlineMs = checkedMs('close({ deadline })', deadline, settings.drainMs)
      if (closing === null) closing = close(deadlineMs, lameDuck ? settings.lameDuckMs : 0)
      else setTimeout(() => now.abort(), deadlineMs).unref()
      return closing
    },
    async swap(next) {
      const before = current
      current = mountInbox(next, settings, proxies)
      before.endStreams()
      await requests.ended(before)
      return before.inbox
    },
    get inbox() {
      return current.inbox
    },
    node,
    [Symbol.asyncDispose]: () => server.close(),
  }
  return server
}

function pause(ms: number, now: AbortSignal): Promise<void> {
  if (ms === 0 || now.aborted) return Promise.resolve()
  return sleep(ms, undefined, { signal: now }).catch(() => {})
}

/** Releasing events after the deadline of their handlers takes a few statements. */
const STOP_GRACE_MS = 500
/** A handler may run on for a second after its signal is aborted; its event is released after that. */
const ABORTED_GRACE_MS = 1_500

async function stopInbox(inbox: WholeInbox, deadlineMs: number): Promise<void> {
  try {
    await inbox.stop({ deadline: Math.max(0, Math.floor(deadlineMs) - STOP_GRACE_MS) })
  } catch {
    inbox.log.error(
      { step: 'settle' },
      'the inbox did not stop in time; other processes take its events when the leases expire',
    )
  }
}

/** Waits at most `ms`, or a short time after `now` was aborted. */
async function withinTime(work: Promise<void>, ms: number, now: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    now.addEventListener('abort', () => setTimeout(resolve, STOP_GRACE_MS).unref())
  })
  await atMost(ms, Promise.race([work, aborted]))
}

function createNode(
  settings: ServerSettings,
  limits: IntakeLimits,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const { keepAliveTimeoutMs, maxConnections, tls } = settings
  const { bodyTimeoutMs } = limits
  const httpOptions = {
    headersTimeout: bodyTimeoutMs,
    // Intake cuts slow bodies earlier, with an answer of its own.
    requestTimeout: Math.ceil(1.5 * bodyTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    // Every 30 seconds is the default of Node; a slow client would keep its connection that much longer.
    connectionsCheckingInterval: Math.max(50, Math.min(2_000, bodyTimeoutMs / 4)),
    // Above the limits of intake, with room for the request line: intake refuses, counts and logs large headers.
    maxHeaderSize: limits.headerBytes + 4 * limits.headerCount + 8_192,
  }
  const node = tls
    ? createHttps({ ...httpOptions, ...readTls(tls) }, handle)
    : createHttp(httpOptions, handle)
  node.maxConnections = maxConnections
  return node as Server
}

/** Refused connections come in large numbers, so at most one line is logged every ten seconds. */
function onDrop({ log }: WholeInbox): () => void {
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    dropped++
    if (performance.now() - loggedAt < 10_000) return
    loggedAt = performance.now()
    log.warn(
      { step: 'receive', reason: 'max_connections', dropped },
      'connections were refused: the server has reached maxConnections',
    )
  }
}
