/** Calls to the admin API of a server. A problem becomes an error that says what to do. */
import { Failure, UsageError } from '../failure.js'
import { linesOf } from '../lines.js'
import { whyNoAnswer } from '../post.js'

export interface Api {
  readonly url: string
  json<T>(method: string, path: string, body?: object): Promise<T>
  /** Does not read the body, which may be a stream. */
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
        throw notTheApi(base)
      }
    },
  }
}

function baseUrl(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new UsageError(`--server ${server.slice(0, 100)} must be a URL such as https://hooks.example.com.`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

async function problemOf(base: string, response: Response, hasToken: boolean): Promise<Error> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 401)
    return new Failure(
      hasToken
        ? `The server at ${base} does not accept this token. Check HOOKONCE_TOKEN; hookonce token create makes a new one.`
        : `The server at ${base} requires a token. Set HOOKONCE_TOKEN; hookonce token create makes one. For hookonce dev, run this command in its folder.`,
    )
  if (!type.includes('application/problem+json')) return notTheApi(base)
  const { detail, code } = (await response.json()) as { detail: string; code: string }
  return new ApiProblem(detail, code)
}

function notTheApi(base: string): Failure {
  return new Failure(
    `The answer of ${base} is not from the admin API of hookonce. Check --server, and that the server has the admin API enabled.`,
  )
}

/** The server did not answer; it may be restarting. */
export class Unreachable extends Failure {}

export class ApiProblem extends Failure {
  readonly code: string
  constructor(detail: string, code: string) {
    super(detail)
    this.code = code
  }
}

interface Frame {
  readonly event: string
  readonly data: string
  readonly id: string | null
}

/** A larger event is not from hookonce. */
const MAX_FRAME_CHARACTERS = 4 * 1024 * 1024
const tooLong = () => new Failure('The stream of the server has an event that is too long. Check --server.')

export async function* frames(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Frame> {
  let event = 'message'
  let id: string | null = null
  const lines: string[] = []
  let length = 0
  for await (const text of linesOf(textOf(body, signal), { maxCharacters: MAX_FRAME_CHARACTERS, tooLong })) {
    const line = text.replace(/\r$/, '')
    length = line === '' ? 0 : length + line.length
    if (length > MAX_FRAME_CHARACTERS) throw tooLong()
    if (line === '') {
      if (lines.length > 0 || id !== null) yield { event, data: lines.join('\n'), id }
      event = 'message'
      id = null
      lines.length = 0
      continue
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') lines.push(value)
    else if (field === 'id') id = value
  }
}

/** Cancels the reader on abort: the signal of a fetch call no longer ends its body after a garbage collection. */
async function* textOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  const decoder = new TextDecoder()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      yield decoder.decode(read.value, { stream: true })
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
