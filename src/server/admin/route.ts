/**
 * A route as a value. The schemas that check a request also describe it in `/api/openapi.json`, so both always agree.
 */
import { z } from 'zod'
import { HookonceError, invalid } from '../../errors.js'
import type { Authenticated } from './access.js'
import type { Permission } from './options.js'

/** `signed-in`: any role. `anyone`: no authentication needed (signing in and out). */
export type Admission = Permission | 'signed-in' | 'anyone'

export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly request: Request
  /** Null only for routes with the admission `anyone`. */
  readonly access: Authenticated | null
  readonly address: string | null
  readonly params: Params
  readonly query: Query
  readonly body: Body
}

/** An object is sent as JSON with status 200, its times as ISO 8601 (`withInstants`). */
export type Answer = Response | object

export interface AnswerShape {
  readonly about: string
  /** One schema for JSON, or schemas by media type. Null: no body. */
  readonly content: z.ZodType | Readonly<Record<string, z.ZodType>> | null
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly can: Admission
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  readonly bodyBytes: number
  readonly answers: Readonly<Record<number, AnswerShape>>
  run(call: Call): Promise<Answer>
}

type Shape = z.ZodRawShape
type Output<S extends Shape> = z.output<z.ZodObject<S>>

interface RouteDefinition<P extends Shape, Q extends Shape, B extends z.ZodType>
  extends Pick<Route, 'method' | 'path' | 'id' | 'summary' | 'can' | 'answers'> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly bodyBytes?: number
  run(call: Call<Output<P>, Output<Q>, z.output<B>>): Promise<Answer>
}

// biome-ignore lint/complexity/noBannedTypes: an empty shape, for routes that take nothing
type Nothing = {}

export function route<
  P extends Shape = Nothing,
  Q extends Shape = Nothing,
  B extends z.ZodType = z.ZodUnknown,
>(definition: RouteDefinition<P, Q, B>): Route {
  const { params, query, body, bodyBytes = SMALL_BODY_BYTES, ...rest } = definition
  return {
    ...rest,
    params: z.strictObject(params ?? {}),
    query: z.strictObject(query ?? {}),
    body: body ?? null,
    bodyBytes,
    run: rest.run as Route['run'],
  }
}

/** Names the wrong field in the error, and never its value. */
export function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue && issue.path.length > 0 ? `${what} ${issue.path.map(String).join('.')}` : what
  throw invalid(where, problemOf(schema, issue))
}

/** Does not name unknown fields: their names come from the caller, and there may be thousands. */
function problemOf(schema: z.ZodType, issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code !== 'unrecognized_keys')
    return `is wrong: ${(issue?.message ?? 'unexpected form').replace(/\.$/, '')}`
  const known = issue.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return `has unknown fields${known.length > 0 ? `; known fields: ${known.join(', ')}` : ''}`
}

export const SMALL_BODY_BYTES = 8 * 1024
/** A hundred outcomes with their errors. */
export const LARGE_BODY_BYTES = 1024 * 1024
/** A hundred leases, or the names of a hundred sources. */
export const LIST_BODY_BYTES = 64 * 1024

async function textOf(request: Request, most: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > most)
    throw new HookonceError('BODY_TOO_LARGE', { most })
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > most) throw new HookonceError('BODY_TOO_LARGE', { most })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** An empty body is an empty object. The media type is required, because a form of another site cannot send it. */
export async function jsonOf(request: Request, most: number): Promise<unknown> {
  const text = await textOf(request, most)
  if (text === '') return {}
  const mediaType = (request.headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (mediaType !== 'application/json') throw new HookonceError('MEDIA_TYPE_REFUSED')
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body', 'must be JSON')
  }
}
