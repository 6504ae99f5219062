/** Calls to the admin API of a server. What goes wrong becomes a sentence that says what to do. */
import { HookonceError } from '../../errors.js'
import { Failure, UsageError } from '../failure.js'
import { whyNoAnswer } from '../post.js'

export interface Api {
  readonly url: string
  /** The answer as JSON. */
  json<T>(method: string, path: string, body?: object): Promise<T>
  /** The answer as it is, for streams and bytes. */
  open(method: string, path: string, init?: RequestInit): Promise<Response>
}

export function createApi(server: string, token: string | undefined): Api {
  const base = baseUrl(server)
  async function open(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers: Record<string, string> = { accept: 'application/json', ...(init.headers as object) }
    if (token) headers.authorization = `Bearer ${token}`
    let response: Response
    try {
      response = await fetch(`${base}${path}`, { ...init, method, headers, redirect: 'error' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new Unreachable(
        `The server at ${base} cannot be reached: ${whyNoAnswer((error as Error).cause ?? error)}. Start it with hookonce serve, or check --server (HOOKONCE_SERVER).`,
      )
    }
    if (!response.ok) throw await problemOf(base, response, token !== undefined)
    return response
  }
  return {
    url: base,
    open,
    async json<T>(method: string, path: string, body?: object): Promise<T> {
      const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const response = await open(method, path, init)
      try {
        return (await response.json()) as T
      } catch {
        throw notOurs(base)
      }
    },
  }
}

function baseUrl(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new UsageError(`--server ${server.slice(0, 100)} is not a URL such as https://hooks.example.com.`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

async function problemOf(base: string, response: Response, hasToken: boolean): Promise<Error> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 401)
    return new Failure(
      hasToken
        ? `The server at ${base} does not accept this token. Check --token (HOOKONCE_TOKEN); hookonce token create makes a new one.`
        : `The server at ${base} wants a token. Give it with --token or HOOKONCE_TOKEN; hookonce token create makes one.`,
    )
  if (!type.includes('application/problem+json')) return notOurs(base)
  const { detail, code } = (await response.json()) as { detail: string; code: string }
  return new ApiProblem(detail, code)
}

function notOurs(base: string): Failure {
  return new Failure(
    `What answers at ${base} is not the admin API of hookonce. Check --server, and that the admin API is on there.`,
  )
}

/** Nobody answered: it may be back in a moment. */
export class Unreachable extends Failure {}

/** The server's own words, with the code of its table. */
export class ApiProblem extends Failure {
  readonly code: string
  constructor(detail: string, code: string) {
    super(detail)
    this.code = code
  }
}

export function isCode(error: unknown, code: string): boolean {
  return (error instanceof ApiProblem || error instanceof HookonceError) && error.code === code
}
