/** Forgeries for the provider contract: each changes one value of a signed delivery. */
import type { Delivery } from '../../provider.js'
import { stepsOf } from '../../verification/delivery/put.js'

export type Change = (text: string) => string

export function withBody(delivery: Delivery, body: Uint8Array): Delivery {
  return { ...delivery, body }
}

export function withByte(delivery: Delivery, at: number): Delivery {
  const body = Uint8Array.from(delivery.body)
  body[at]! ^= 1
  return withBody(delivery, body)
}

/** The text of a field in the delivery; in the first element of a list, if each element has one. */
export function fieldText(delivery: Delivery, field: string): string | undefined {
  let found: string | undefined
  changeField(delivery, field, (text) => {
    found ??= text
    return text
  })
  return found
}

/** The delivery with one field changed; in every element of the list `each`, if the field belongs to one. */
export function changeField(delivery: Delivery, field: string, change: Change, each = ''): Delivery {
  const [kind, name] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]
  if (kind === 'header') {
    const text = delivery.headers[name]
    return text === undefined ? delivery : withHeader(delivery, name, change(text))
  }
  if (kind === 'query') {
    const url = new URL(delivery.url)
    const text = url.searchParams.get(name)
    if (text !== null) url.searchParams.set(name, change(text))
    return { ...delivery, url: url.href }
  }
  if (kind === 'form') {
    const form = new URLSearchParams(Buffer.from(delivery.body).toString('utf8'))
    const text = form.get(name)
    if (text !== null) form.set(name, change(text))
    return withBody(delivery, Buffer.from(form.toString()))
  }
  if (kind !== 'json') return delivery
  const document: unknown = JSON.parse(Buffer.from(delivery.body).toString('utf8'))
  changeJson(document, [...stepsOf(each), ...stepsOf(name)], change)
  return withBody(delivery, Buffer.from(JSON.stringify(document)))
}

export function withHeader(delivery: Delivery, name: string, value: string): Delivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } }
}

export function withoutField(delivery: Delivery, field: string, each = ''): Delivery {
  if (!field.startsWith('header:')) return changeField(delivery, field, () => '', each)
  const headers = { ...delivery.headers }
  delete headers[field.slice('header:'.length)]
  return { ...delivery, headers }
}

function changeJson(target: unknown, [step, ...rest]: readonly string[], change: Change): void {
  if (typeof target !== 'object' || target === null || step === undefined) return
  const members = target as Record<string, unknown>
  for (const name of step === '[]' || step === '*' ? Object.keys(members) : [step]) {
    const value = members[name]
    if (rest.length > 0) changeJson(value, rest, change)
    else if (typeof value === 'number') {
      const text = change(String(value))
      members[name] = /^\d{1,15}$/.test(text) ? Number(text) : text
    } else if (typeof value === 'string' || typeof value === 'boolean') members[name] = change(String(value))
  }
}
