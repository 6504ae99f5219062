/** docs/reference/http-api.md: the text of http.md beside this file, and every route of the admin API from its OpenAPI document. */
import { readFile } from 'node:fs/promises'
import { createInbox, silentLog } from 'hookonce'
import { admin } from 'hookonce/server'

/** @typedef {{ name: string, in: string, required?: boolean, description?: string, schema?: any }} Parameter */

export async function httpPage() {
  const inbox = createInbox({ store: 'sqlite::memory:', sources: {}, log: silentLog })
  const api = admin(inbox, { authorize: () => ({ actor: 'docs', role: 'admin' }), hosts: ['127.0.0.1'] })
  const answer = await api.fetch(new Request('http://127.0.0.1/api/openapi.json'), { address: '127.0.0.1' })
  const document = /** @type {any} */ (await answer.json())
  await inbox.stop()
  const sections = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(/** @type {Record<string, any>} */ (methods)).map(([method, operation]) =>
      section(method.toUpperCase(), path, operation),
    ),
  )
  const text = await readFile(new URL('http.md', import.meta.url), 'utf8')
  return text
    .replace('# HTTP API\n', '# HTTP API\n\n<!-- Generated: npm run docs:reference -->\n')
    .replace('{{routes}}', () => sections.join('\n'))
    .trimEnd()
    .concat('\n')
}

/** @param {string} method @param {string} path @param {any} operation */
function section(method, path, operation) {
  /** @type {Parameter[]} */
  const parameters = operation.parameters ?? []
  const body = operation.requestBody?.content?.['application/json']?.schema
  const rows = [
    ...parameters
      .map((parameter) => row(parameter.name, parameter.in, parameter.schema, parameter.required === true))
      .filter((_, i) => parameters[i]?.in !== 'path'),
    ...Object.entries(body?.properties ?? {}).map(([name, schema]) =>
      row(name, 'body', schema, body.required?.includes(name) ?? false),
    ),
  ]
  const table = rows.length === 0 ? '' : `\n| name | in | type | |\n|---|---|---|---|\n${rows.join('\n')}\n`
  const answers = Object.keys(operation.responses ?? {})
    .filter((status) => status !== 'default')
    .join(', ')
  const permission = operation['x-permission'] ? `Permission: ${operation['x-permission']}. ` : ''
  return `### ${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\n\n${operation.summary ?? ''}\n\n${permission}Answers: ${answers}.\n${table}`
}

/** @param {string} name @param {string} place @param {any} schema @param {boolean} required */
function row(name, place, schema, required) {
  const type = schema?.enum
    ? schema.enum.join(', ')
    : (schema?.const ?? schema?.type ?? (schema?.anyOf ? 'one of several' : 'any'))
  if (!schema?.description)
    throw new Error(`The parameter "${name}" (${place}) of the admin API has no description`)
  const text = `${schema.description}${required && place !== 'path' ? '. Required' : ''}`
  return `| \`${name}\` | ${place} | ${String(type).replaceAll('|', '\\|')} | ${text.replaceAll('|', '\\|').replace(/\s+/g, ' ')} |`
}
