/** `/healthz`: this process answers. `/readyz`: it can record a delivery now. Neither says anything a stranger may not know. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { valueWithin } from '../clock.js'
import { isHookonceError } from '../errors.js'
import type { Inbox } from '../inbox.js'

export interface Readiness {
  readonly ready: boolean
  /** `reachable`, or what is wrong. */
  readonly store: string
  /** What waits in the spool, where there is one; while it has room, deliveries are taken without the store. */
  readonly spool?: { readonly depth: number; readonly full: boolean } | undefined
}

export interface Health {
  /** False: not one of its paths. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

/** An answer is good for this long: many who ask cost one look. */
const KEEP_MS = 500

export function createHealth(
  current: () => Inbox,
  isStopping: () => boolean,
  { readyTimeoutMs }: { readonly readyTimeoutMs: number },
): Health {
  const askStore = oneAtATime(lookAtStore)
  const askSpool = oneAtATime(lookAtSpool)
  let last: { readonly inbox: Inbox; readonly at: number; readonly found: Readiness } | null = null

  async function readiness(): Promise<Readiness> {
    const inbox = current()
    if (last?.inbox === inbox && performance.now() - last.at < KEEP_MS) return last.found
    // Beside each other: a store that hangs must not hide a spool that has room.
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

  return {
    answer(path, request, response) {
      if (path !== '/healthz' && path !== '/readyz') return false
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        send(response, 405, { status: 'rejected' })
      } else if (path === '/healthz') send(response, 200, { status: 'ok' })
      else void ready(response)
      return true
    },
  }
}

const REACHABLE = 'reachable'

async function lookAtStore(inbox: Inbox): Promise<string> {
  try {
    await (await inbox.store()).ping()
    return REACHABLE
  } catch (error) {
    // The code, not the message: a message may name a host of the inside.
    return isHookonceError(error) ? error.code : 'STORE_FAILED'
  }
}

async function lookAtSpool({ spool }: Inbox): Promise<Readiness['spool']> {
  if (spool === null) return undefined
  try {
    const [{ depth }, room] = await Promise.all([spool.status(), spool.hasRoom()])
    return { depth, full: !room }
  } catch {
    return { depth: 0, full: true }
  }
}

/** However many ask, and however long it takes: one look is under way. */
function oneAtATime<T>(look: (inbox: Inbox) => Promise<T>): (inbox: Inbox) => Promise<T> {
  let current: { readonly inbox: Inbox; readonly found: Promise<T> } | null = null
  return (inbox) => {
    if (current?.inbox !== inbox) {
      const found = look(inbox).finally(() => {
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
