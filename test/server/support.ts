/** An admin API on a real port, with a token for each role, and a way to call it. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Inbox } from 'hookonce'
import { type Admin, type AdminOptions, admin, nodeAdmin, type Role, type Token } from 'hookonce/server'
import { until } from '../support/processing.js'

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

export const roles = ['viewer', 'operator', 'admin', 'worker'] as const

export const tokenOf = (role: Role): string => `token-of-the-${role}`

export const tokens: readonly Token[] = [
  ...roles.map((role) => ({ name: `the-${role}`, role, sha256: hashOf(tokenOf(role)) })),
  { name: 'old', role: 'admin', sha256: hashOf('token-that-is-over'), expiresAt: '2020-01-01T00:00:00Z' },
]

export interface CallOptions {
  readonly role?: Role | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export interface RunningAdmin {
  readonly url: string
  readonly port: number
  readonly handler: Admin
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  /** As admin, expecting JSON. */
  json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export async function startAdmin(inbox: Inbox, options: AdminOptions = {}): Promise<RunningAdmin> {
  const handler = admin(inbox, { tokens, ...options })
  // A test that blocks the process for long must not find its idle connection closed when it goes on.
  const server = createServer({ keepAliveTimeout: 0 }, nodeAdmin(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  function call(
    method: string,
    path: string,
    { role = 'admin', headers = {}, body, signal }: CallOptions = {},
  ) {
    return fetch(`${url}${options.basePath ?? ''}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(role === null ? {} : { authorization: `Bearer ${tokenOf(role)}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  }
  return {
    url,
    port,
    handler,
    call,
    json: async (method, path, body) =>
      (await (await call(method, path, { body })).json()) as Record<string, unknown>,
    async stop() {
      await handler.close()
      await new Promise((resolve) => server.close(resolve).closeAllConnections())
    },
  }
}

/** A short action is in the answer; on a busy machine it may take longer than the answer waits. */
export async function acted(running: RunningAdmin, body: unknown): Promise<Record<string, unknown>> {
  let action = await running.json('POST', '/api/events/actions', body)
  await until(async () => {
    if (action.state === 'running') action = await running.json('GET', `/api/actions/${action.id}`)
    return action.state !== 'running'
  }, 'the action has ended')
  return action
}

export const pathOf = (source: string, id: string): string =>
  `/api/events/${encodeURIComponent(source)}/${encodeURIComponent(id)}`
