/** `/healthz`: this process answers. `/readyz`: it can record a delivery now. Neither says anything a stranger may not know. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isHookonceError } from '../errors.js'
import type { Inbox } from '../inbox.js'

export interface Readiness {
  readonly ready: boolean
  /** `reachable`, or what is wrong. */
  readonly store: string
  /** What waits in the spool, where there is one; while it has room, deliveries are taken without the store. */
  readonly spool?: { readonly depth: number; readonly full: boolean }
}

export interface Health {
  /** False: not one of its paths. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean
}

export function createHealth(
  current: () => Inbox,
  isStopping: () => boolean,
  { readyTimeoutMs }: { readonly readyTimeoutMs: number },
): Health {
  /** One look at the store at a time, however many ask. */
  let looking: Promise<Readiness> | null = null

  function readiness(): Promise<Readiness> {
    looking ??= look(current(), readyTimeoutMs).finally(() => {
      looking = null
    })
    return looking
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

async function look(inbox: Inbox, limitMs: number): Promise<Readiness> {
  const [of, status] = await Promise.all([
    lookAtStore(inbox, limitMs),
    inbox.spool?.status().catch(() => undefined),
  ])
  if (!status) return of
  const spool = { depth: status.depth, full: status.bytes >= status.maxBytes }
  return { ready: of.ready || !spool.full, store: of.store, spool }
}

async function lookAtStore(inbox: Inbox, limitMs: number): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve({ ready: false, store: `no answer within ${limitMs} ms` }), limitMs)
  })
  const found = inbox.events.stats().then(
    () => ({ ready: true, store: 'reachable' }),
    // The code, not the message: a message may name a host of the inside.
    (error: unknown) => ({ ready: false, store: isHookonceError(error) ? error.code : 'STORE_FAILED' }),
  )
  try {
    return await Promise.race([found, late])
  } finally {
    clearTimeout(timer)
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
