/**
 * Deliveries that nobody with the secret has signed: random ones, and ones signed with another secret and then
 * changed at random. None may be accepted, and nothing may throw. HOOKONCE_FUZZ_RUNS is the total over the catalogue.
 */

import fc from 'fast-check'
import { catalogue } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import '../support/fixed-seed.js'

const now = Date.UTC(2026, 10, 15)
const entries = Object.values(catalogue).flatMap((factory) =>
  factory.credentials.map((credential) => ({ factory: factory as unknown as Factory, credential })),
)
const numRuns = Math.ceil(Number(process.env.HOOKONCE_FUZZ_RUNS ?? 12_000) / entries.length)

interface Factory {
  (options: object): ReturnType<typeof catalogue.stripe>
  readonly key: string
  example(credential: string): object
}

const piece = fc.oneof(
  fc.constantFrom(
    '',
    't=',
    'v1=',
    'v1,',
    'v0=',
    'sha256=',
    ',',
    ' ',
    ';',
    '=',
    '.',
    '..',
    '\0',
    '\u{1f389}',
    'Bearer ',
    'Basic ',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.nat({ max: 2_000_000_000 }).map(String),
)
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))
const body = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.json({ maxDepth: 3 }).map((json) => new TextEncoder().encode(json)),
)
const cut = fc.record({ at: fc.nat(200), remove: fc.nat(3), insert: text })
const change = fc.record({
  signature: fc.option(fc.oneof(text, cut)),
  header: fc.option(text),
  which: fc.nat(20),
  body: fc.option(body),
  query: fc.option(text),
  method: fc.constantFrom('POST', 'GET', 'PUT', ''),
})

describe('no forgery is accepted', () => {
  for (const { factory, credential } of entries) {
    test(`${factory.key} by ${credential}`, async () => {
      const source = factory(factory.example(credential))
      const stranger = factory(factory.example(credential))
      const bases = await Promise.all(
        source.sampleTypes.map((type) => stranger.sign(stranger.sample({ now, type }))),
      )
      const place = source.scheme.signatureIn[0]!.replace(/^header:/, '')
      await fc.assert(
        fc.asyncProperty(fc.nat(bases.length - 1), change, async (index, wanted) => {
          const base = bases[index]!
          const headers: Record<string, string> = { ...base.headers }
          const names = Object.keys(headers)
          if (wanted.header !== null && names.length > 0)
            headers[names[wanted.which % names.length]!] = wanted.header
          if (wanted.signature !== null) {
            const old = headers[place] ?? ''
            headers[place] =
              typeof wanted.signature === 'string'
                ? wanted.signature
                : old.slice(0, wanted.signature.at) +
                  wanted.signature.insert +
                  old.slice(wanted.signature.at + wanted.signature.remove)
          }
          const delivery = {
            method: wanted.method,
            url: wanted.query === null ? base.url : `${base.url}?${wanted.query}`,
            headers,
            body: wanted.body ?? base.body,
          }
          expect((await source.verify(delivery, { now })).ok).toBe(false)
          source.identify(delivery)
          source.handshake(delivery, { now })
        }),
        { numRuns },
      )
    })
  }
})
