import { z } from 'zod'
import type { AnswerShape, Route } from './route.js'

type Json = Record<string, unknown>

const problemSchema = {
  type: 'object',
  description: 'A problem document (RFC 9457). `code` is stable; see the table of errors.',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
  additionalProperties: false,
}

export function openapi(routes: readonly Route[], basePath: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'hookonce admin API',
      version: '1',
      description: 'Path parameters are percent-encoded, including slashes in ids. Times are ISO 8601.',
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    paths,
    components: {
      schemas: { Problem: problemSchema },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'hookonce_session' },
      },
    },
  }
}

function operation({ id, summary, can, params, query, body, answers }: Route): Json {
  return {
    operationId: id,
    summary,
    ...(can === 'anyone' ? {} : { security: [{ token: [] }, { session: [] }], 'x-permission': can }),
    parameters: [...parameters('path', params), ...parameters('query', query)],
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: { 'application/json': { schema: inputSchema(body) } },
          },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, shape]) => [status, answer(shape)])),
      default: refused,
    },
  }
}

const refused = {
  description: 'An error, as a problem document.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

function answer({ about, content }: AnswerShape): Json {
  if (content === null) return { description: about }
  const byType = content instanceof z.ZodType ? { 'application/json': content } : content
  return {
    description: about,
    content: Object.fromEntries(
      Object.entries(byType).map(([type, schema]) => [type, { schema: plain(z.toJSONSchema(schema)) }]),
    ),
  }
}

function parameters(place: 'path' | 'query', shape: z.ZodObject): Json[] {
  const { properties = {}, required = [] } = inputSchema(shape) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema,
  }))
}

function inputSchema(schema: z.ZodType): Json {
  return plain(z.toJSONSchema(schema, { io: 'input' }))
}

function plain({ $schema: _, ...schema }: Json): Json {
  return schema
}
