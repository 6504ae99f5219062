/** What the tests of references share: a table of deliveries with the type and the reference that a user expects. */
import type { catalogue, gitlab } from 'hookonce/providers'
import { expect, test } from 'vitest'

export const now = 1_700_000_000_000

export interface Sent {
  readonly headers?: Record<string, string>
  /** Sent as JSON. */
  readonly body?: unknown
  readonly form?: Record<string, string>
}

export interface Expected extends Sent {
  readonly name: string
  readonly type: string
  readonly reference: string | null
}

type AnyFactory = (typeof catalogue)[keyof typeof catalogue]

/** By factory: a key pair takes a second to make. */
const sources = new Map<AnyFactory, ReturnType<typeof gitlab>>()

function sourceOf(factory: AnyFactory): ReturnType<typeof gitlab> {
  let source = sources.get(factory)
  if (source === undefined) {
    source = (factory as (options: never) => ReturnType<typeof gitlab>)(factory.example() as never)
    sources.set(factory, source)
  }
  return source
}

/** The events of a signed delivery. The contract of the catalogue proves that such a delivery is verified. */
export async function identify(factory: AnyFactory, { headers, body, form }: Sent) {
  const source = sourceOf(factory)
  const text = form === undefined ? JSON.stringify(body) : new URLSearchParams(form).toString()
  const contentType = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  const all = { ...factory.definition.sampleHeaders, 'content-type': contentType, ...headers }
  const signed = await source.sign({ body: text, headers: all, now })
  return source.identify(signed).map(({ type, reference }) => ({ type, reference }))
}

export function expectEach(factory: AnyFactory, cases: readonly Expected[]): void {
  test.each(cases)(`${factory.definition.name}: $name is $type of $reference`, async (wanted) => {
    expect(await identify(factory, wanted)).toEqual([{ type: wanted.type, reference: wanted.reference }])
  })
}
