/** Writes the values of synthetic deliveries. */
import type { Draft } from '../scheme.js'
import { encodePairs, parseForm } from './body-formats.js'
import { type FieldText, splitField } from './field.js'

export function putField(draft: Draft, field: FieldText, value: string): void {
  const [kind, rest] = splitField(field)
  if (kind === 'header') draft.headers[rest.toLowerCase()] = value
  else if (kind === 'query')
    draft.url += `${draft.url.includes('?') ? '&' : '?'}${encodePairs([[rest, value]])}`
  else if (kind === 'form') {
    const others = (parseForm(draft.body) ?? []).filter(([name]) => name !== rest)
    draft.body = Buffer.from(encodePairs([...others, [rest, value]]))
  } else if (kind === 'json') {
    const document: unknown = JSON.parse(Buffer.from(draft.body).toString('utf8'))
    putJson(document, rest, value)
    draft.body = Buffer.from(JSON.stringify(document))
  } else throw new TypeError(`A value cannot be written to "${field}".`)
}

/** Writes to every place of the path and creates missing objects. A number stays a number. */
export function putJson(target: unknown, path: string, value: string): void {
  const steps = stepsOf(path)
  const last = steps.pop()!
  for (const holder of walk(target, steps)) {
    const members = holder as Record<string, unknown>
    members[last] = typeof members[last] === 'number' ? Number(value) : value
  }
}

/** `items[].id` -> `items`, `[]`, `id`. */
export function stepsOf(path: string): string[] {
  return path
    .replaceAll('[]', '.[]')
    .split('.')
    .filter((step) => step !== '')
}

export function walk(target: unknown, steps: readonly string[]): readonly unknown[] {
  let here: unknown[] = [target]
  for (const step of steps) {
    here = here.flatMap((value) => {
      if (step === '[]') return Array.isArray(value) ? value : []
      const members = value as Record<string, unknown>
      members[step] ??= {}
      return [members[step]]
    })
  }
  return here
}
