/**
 * `/healthz`: this process answers. `/readyz`: it can record a delivery now. Both are public and contain no secrets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { valueWithin } from '../clock.js'
import { isHookonceError } from '../errors.js'
import type { WholeInbox } from '../inbox/internals.js'

export interface Readiness {
  readonly ready: boolean
  readonly store: string
  /** While the spool has room, deliveries are accepted without the store. */
  readonly spool?: { readonly depth: number; readonly full: boolean } | undefined
}

/** Many requests within this time cost one check. */
const REUSE_MS = 500

/** Returns false for other paths. */
export function createHealth(
  current: () => WholeInbox,
  isStopping: () => boolean,
  { readyTimeoutMs }: { readonly readyTimeoutMs: number },
): (path: string, request: IncomingMessage, response: ServerResponse) => boolean {
  const askStore = oneAtATime(checkStore)
  const askSpool = oneAtATime(checkSpool)
  let last: { readonly inbox: WholeInbox; readonly at: number; readonly found: Readiness } | null = null

  async function readiness(): Promise<Readiness> {
    const inbox = current()
    if (last?.inbox === inbox && performance.now() - last.at < REUSE_MS) return last.found
    // In parallel: a store that hangs must not hide a spool that has room.
    const [store, spool] = await Promise.all([
      valueWithin(askStore(inbox), readyTimeoutMs, `no answer within ${readyTimeoutMs} ms`),
      valueWithin(askSpool(inbox), readyTimeoutMs, undefined),
    ])
    const found = { ready: store === REACHABLE || spool?.full === false, store, ...(spool && { spool }) }
    last = { inbox, at: performance.now(), found }
    return found
  }

  async function ready(response: ServerResponse): Promise<void> {
    if (isStopping()) return send(response, 503, { status: 'stopping' })
    const { ready, ...rest } = await readiness()
    send(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not_ready', ...rest })
  }

  return (path, request, response) => {
    if (path !== '/healthz' && path !== '/readyz') return false
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      send(response, 405, { status: 'rejected' })
    } else if (path === '/healthz') send(response, 200, { status: 'ok' })
    else void ready(response)
    return true
  }
}

const REACHABLE = 'reachable'

async function checkStore(inbox: WholeInbox): Promise<string> {
  try {
    await (await inbox.store()).ping()
    return REACHABLE
  } catch (error) {
    // The code, not the message: a message may name an internal host.
    return isHookonceError(error) ? error.code : 'STORE_FAILED'
  }
}

async function checkSpool({ spool }: WholeInbox): Promise<Readiness['spool']> {
  if (spool === null) return undefined
  try {
    const [{ depth }, room] = await Promise.all([spool.status(), spool.hasRoom()])
    return { depth, full: !room }
  } catch {
    return { depth: 0, full: true }
  }
}

function oneAtATime<T>(check: (inbox: WholeInbox) => Promise<T>): (inbox: WholeInbox) => Promise<T> {
  let current: { readonly inbox: WholeInbox; readonly found: Promise<T> } | null = null
  return (inbox) => {
    if (current?.inbox !== inbox) {
      const found = check(inbox).finally(() => {
        if (current?.found === found) current = null
      })
      current = { inbox, found }
    }
    return current.found
  }
}

function send(response: ServerResponse, httpStatus: number, answer: object): void {
  const body = `${JSON.stringify(answer)}\n`
  response.writeHead(httpStatus, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  })
  response.end(body)
}
