/** Requests generated from /api/openapi.json, valid and not: every answer is documented, and none is a 500. */
import SwaggerParser from '@apidevtools/swagger-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { type RunningAdmin, startAdmin } from '../server/support.js'
import { ids, onLog, postAll } from '../support/processing.js'
import { fuzzRuns } from './runs.js'

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
}
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[]
  readonly requestBody?: { content: Record<string, { schema: Schema }> }
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}
interface Request {
  readonly operation: Operation
  readonly method: string
  readonly path: string
  readonly body: unknown
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
;(formats as unknown as (ajv: Ajv2020) => void)(ajv)

/** Too many wrong tokens are answered 429, which is its own test; a stream does not end. */
const leftOut = new Set(['signIn', 'signOut', 'streamEvents', 'claimWork'])

const word = fc.oneof(
  fc.constantFrom(
    'shop',
    'e1',
    'e2',
    'nobody',
    'order.*',
    '*',
    '',
    '%',
    '\0',
    '..',
    '1',
    '-1',
    '0',
    '1e9',
    'true',
    '30d',
  ),
  fc.constantFrom(
    '$.ref',
    '2026-01-01T00:00:00Z',
    'MQ',
    '6f0c1d5e-8f0e-4b4e-9b0a-0d6f5f1c2a3b',
    '🎉',
    'x'.repeat(3_000),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed()),
)
const junk = fc.oneof(
  word,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 2 }),
  fc.object({ maxDepth: 1 }),
)

/** Mostly a value of the schema, now and then any other. */
function anyValueOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: fitting(schema, depth) }, { weight: 1, arbitrary: junk })
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices && depth < 6) return fc.oneof(...choices.map((one) => anyValueOf(one, depth + 1)))
  switch (typeof schema.type === 'string' ? schema.type : schema.type?.[0]) {
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({
          min: schema.minimum ?? -10,
          max: Math.max(schema.minimum ?? -10, Math.min(schema.maximum ?? 100, 100)),
        }),
        fc.constantFrom(schema.minimum ?? 0, schema.maximum ?? 2 ** 53, -1, 1.5),
      )
    case 'boolean':
      return fc.boolean()
    case 'array':
      return depth > 5
        ? fc.constant([])
        : fc.array(anyValueOf(schema.items ?? {}, depth + 1), { maxLength: 3 })
    case 'object':
      if (depth > 5) return fc.constant({})
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, inner]) => [
            name,
            anyValueOf(inner, depth + 1),
          ]),
        ),
        { requiredKeys: [] },
      )
    case 'string':
      return word
    default:
      return junk
  }
}

function requestOf(path: string, method: string, operation: Operation): fc.Arbitrary<Request> {
  const parameters = operation.parameters ?? []
  const values = fc.tuple(
    ...parameters.map(({ schema, required }) =>
      required ? anyValueOf(schema) : fc.option(anyValueOf(schema), { nil: undefined, freq: 2 }),
    ),
  )
  const schema = operation.requestBody?.content['application/json']?.schema
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(anyValueOf(schema), fc.constantFrom('{', 'null', ''))
  return fc.tuple(values, body).map(([given, body]) => {
    const query = new URLSearchParams()
    let filled = path
    parameters.forEach(({ name, in: place }, i) => {
      const value = given[i]
      const asText = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
      if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(asText) || '%20')
      else if (place === 'query' && value !== undefined) query.append(name, asText)
    })
    return {
      operation,
      method: method.toUpperCase(),
      path: query.size > 0 ? `${filled}?${query}` : filled,
      body,
    }
  })
}

onLog('SQLite', (bench) => {
  let running: RunningAdmin | undefined
  afterEach(() => running?.stop())

  test('every answer has a documented status and the shape of it', async () => {
    const { inbox, lines } = bench.inbox()
    await postAll(
      inbox,
      ids(5).map((id) => ({ id, ref: 'o-1' })),
    )
    const admin = await startAdmin(inbox)
    running = admin
    const raw = await admin.json('GET', '/api/openapi.json')
    const document = (await SwaggerParser.validate(structuredClone(raw) as never)) as unknown as {
      paths: Record<string, Record<string, Operation>>
    }
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    const usable = operations.filter(({ operation }) => !leftOut.has(operation.operationId))
    expect(usable.length).toBeGreaterThan(25)
    const request = fc.oneof(...usable.map((one) => requestOf(one.path, one.method, one.operation)))
    await fc.assert(
      fc.asyncProperty(request, async ({ operation, method, path, body }) => {
        // A path with . or .. as a segment is another path before it reaches the server.
        fc.pre(new URL(path, admin.url).pathname === path.split('?')[0])
        const response = await admin.call(method, path, { body })
        const text = await response.text()
        const what = `${operation.operationId}: ${method} ${path} ${JSON.stringify(body)} answered ${response.status} ${text.slice(0, 500)}`
        expect(response.status, `${what}\n${JSON.stringify(lines.slice(-1))}`).not.toBe(500)
        const said = operation.responses[response.status] ?? operation.responses.default
        expect(said, what).toBeDefined()
        const type = response.headers.get('content-type')?.split(';')[0] ?? ''
        if (said!.content === undefined || !/^application\/(problem\+)?json$/.test(type)) return
        const schema = said!.content[type]?.schema
        expect(schema, what).toBeDefined()
        const fits = ajv.compile(schema!)
        const isFitting = fits(JSON.parse(text))
        expect(isFitting, `${what}: ${JSON.stringify(fits.errors)}`).toBe(true)
      }),
      { numRuns: fuzzRuns(120, 50) },
    )
  })
})
