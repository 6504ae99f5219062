/** Holds a provider against its sender's own library: what one signs the other believes, what was changed neither does. */
import type { Delivery, Source } from 'hookonce'
import type { SignOptions } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'

export interface Oracle {
  /** A delivery as the library signs it. Left out where it can only verify. */
  readonly sign?: (draft: SignOptions & { readonly body: string }) => Delivery | Promise<Delivery>
  /** Whether the library believes a delivery; a throw is a no. */
  readonly verify: (delivery: Delivery) => unknown
  /** Bodies besides the samples of the provider. Those the library would parse and write anew stay away from here. */
  readonly bodies?: readonly string[]
}

/** Spelled as no serialiser would: the signature is of the bytes. */
export const oddBodies = [
  '{ "id":"evt_1",\n\t"type" : "a.b", "amount": 1.0, "name":"J\\u00fcrgen", "n": 12345678901234567890 }\r\n',
  '{"id":"evt_2","type":"a.b","name":"Jürgen 漢字 🎉","escaped":"\\/ \\" &amp; %20+"}',
]

export function agree(library: string, source: Source, oracle: Oracle): void {
  const { sign } = oracle
  const drafts = [
    ...source.sampleTypes.map((type) => ({
      name: type,
      draft: (now: number) => source.sample({ type, now }),
    })),
    ...(oracle.bodies ?? []).map((body, index) => ({
      name: `odd body ${index + 1}`,
      draft: (now: number): SignOptions => ({ ...source.sample({ now }), body }),
    })),
  ]

  describe(`${source.name} and ${library}`, () => {
    for (const { name, draft } of drafts) {
      if (sign !== undefined) {
        test(`${name}: we believe what it signs`, async () => {
          const now = Date.now()
          const options = draft(now)
          const delivery = await sign({ ...options, body: text(options.body) })
          await both(delivery, now, true)
          await both(changed(delivery), now, false)
        })
      }
      test(`${name}: it believes what we sign`, async () => {
        const now = Date.now()
        const delivery = await source.sign(draft(now))
        await both(delivery, now, true)
        await both(changed(delivery), now, false)
      })
    }
  })

  async function both(delivery: Delivery, now: number, believed: boolean): Promise<void> {
    const ours = await source.verify(delivery, { now })
    expect({ ours: ours.ok, theirs: await theirs(delivery) }).toEqual({ ours: believed, theirs: believed })
  }

  async function theirs(delivery: Delivery): Promise<boolean> {
    try {
      return (await oracle.verify(delivery)) !== false
    } catch {
      return false
    }
  }
}

export function text(body: Uint8Array | string): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

/** A delivery from outside, as an adapter would hand it over. */
export function delivery(
  body: string,
  headers: Readonly<Record<string, string>>,
  url = 'https://example.com/hook',
): Delivery {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: new TextEncoder().encode(body),
  }
}

export function header(delivery: Delivery, name: string): string {
  const value = delivery.headers[name]
  if (value === undefined) throw new Error(`no header ${name}`)
  return value
}

/** One letter of the first value, so that the body still parses. */
export function changed(delivery: Delivery): Delivery {
  const body = text(delivery.body)
  const other = body.replace(/([:=]\s*"?)([A-Za-z1-9])/, (_, before: string, letter: string) => {
    return before + (letter === '2' ? '3' : /[0-9]/.test(letter) ? '2' : letter === 'x' ? 'y' : 'x')
  })
  if (other === body) throw new Error('nothing to change in the body')
  return { ...delivery, body: new TextEncoder().encode(other) }
}
