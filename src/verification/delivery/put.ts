/** Writing a value where a field says it is: for signing synthetic deliveries, never for received ones. */
import type { Draft } from '../scheme.js'
import { type FieldText, splitField } from './field.js'
import { encodePairs, parseForm } from './form.js'

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

/** Into every place the path names; missing objects on the way are made. A number stays one. */
export function putJson(target: unknown, path: string, value: string): void {
  const steps = path
    .replaceAll('[]', '.[]')
    .split('.')
    .filter((step) => step !== '')
  const last = steps.pop()!
  for (const holder of walk(target, steps)) {
    const members = holder as Record<string, unknown>
    members[last] = typeof members[last] === 'number' ? Number(value) : value
  }
}

/** Every object at a path. */
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
