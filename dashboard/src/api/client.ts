/** The typed client of the admin API. Types come from the project's own OpenAPI description. */
import createClient from 'openapi-fetch'
import { base } from '../app/base'
import type { operations, paths } from './schema'

export const api = createClient<paths>({ baseUrl: base, headers: { accept: 'application/json' } })

/** An answer that is not a success: the problem document of the API, or no answer at all. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface Answer<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

/** The data of an answer. Throws ApiError with the words of the server. */
export async function take<T>(call: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError(0, 'UNREACHABLE', 'The server does not answer.')
  })
  if (response.ok) return data as NonNullable<T>
  const problem = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: string
    detail?: string
  }
  throw new ApiError(
    response.status,
    problem.code ?? 'UNEXPECTED',
    problem.detail ?? `The server answered ${response.status}.`,
  )
}

export type Body<Id extends keyof operations> = operations[Id] extends {
  responses: { 200: { content: { 'application/json': infer T } } }
}
  ? T
  : never

export type EventView = Body<'getEvent'>
export type Attempt = Body<'listAttempts'>['attempts'][number]
export type Audit = Body<'listAudits'>['audits'][number]
export type Session = Body<'getSession'>
export type Action = Body<'getAction'>
export type ActionFilter = NonNullable<
  operations['startAction']['requestBody']['content']['application/json']['filter']
>
export type SourceView = Body<'listSources'>['sources'][number]
export type Stats = Body<'getStats'>
export interface EventKey {
  readonly source: string
  readonly id: string
}
