/** The readers of forms, multipart bodies and XML against the readers of others: whatever ours reads, theirs reads too. */

import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encodePairs,
  multipartField,
  onlyValue,
  parseForm,
  xmlText,
} from '#dist/verification/delivery/body-formats.js'
import { installExtras } from '../../scripts/extras.mjs'
import { fuzzRuns } from './runs.js'

await installExtras('sdks')

type ParseString = (xml: string, options: object, done: (error: unknown, result: unknown) => void) => void
const { parseString } = createRequire(import.meta.url)('xml2js') as { parseString: ParseString }

const bytes = (text: string) => new TextEncoder().encode(text)

describe('forms', () => {
  const piece = fc.oneof(
    fc.constantFrom('&', '=', '+', '%', '%2', '%20', '%C3%BC', '%ff', '?', '\ufeff', 'a', 'payload', ';'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  )
  const form = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))

  test('the pairs are those of URLSearchParams, or the form is refused', () => {
    fc.assert(
      fc.property(form, (text) => {
        fc.pre(text.isWellFormed())
        const ours = parseForm(bytes(text))
        // URLSearchParams skips a question mark at the start, and replaces bytes that are not UTF-8.
        const theirs = [...new URLSearchParams(`&${text}`)]
        if (ours !== null) expect(ours).toEqual(theirs)
        else expect(() => decodeURIComponent(text)).toThrow()
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  test('any bytes are pairs or a refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (body) => {
        const pairs = parseForm(body)
        if (pairs !== null) expect(parseForm(bytes(encodePairs(pairs)))).toEqual(pairs)
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  test('a name that occurs twice has no value', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.string())), (pairs) => {
        const all = new URLSearchParams(pairs).getAll('a')
        const expected = all.length === 1 ? all[0] : all.length === 0 ? undefined : null
        expect(onlyValue(pairs, 'a')).toBe(expected)
      }),
      { numRuns: fuzzRuns(1_000) },
    )
  })
})

describe('multipart', () => {
  const name = fc.constantFrom('payload', 'json', 'file', 'a b', 'ü')
  const value = fc.oneof(fc.string(), fc.constantFrom('\r\n', '--', '\r\n--x\r\n', '{"id":1}'))
  const fields = fc.array(fc.tuple(name, value, fc.boolean()), { maxLength: 5 })

  async function written(list: readonly (readonly [string, string, boolean])[]) {
    const form = new FormData()
    for (const [name, value, isFile] of list)
      form.append(name, isFile ? new File([value], '"; name="payload"; b="') : value)
    const response = new Response(form)
    return { type: response.headers.get('content-type')!, body: new Uint8Array(await response.arrayBuffer()) }
  }

  async function theirs(body: Uint8Array, type: string): Promise<(string | Uint8Array)[] | null> {
    try {
      const headers = { 'content-type': type }
      const all = (await new Response(Buffer.from(body), { headers }).formData()).getAll('payload')
      return await Promise.all(
        all.map(async (one) => (typeof one === 'string' ? one : new Uint8Array(await one.arrayBuffer()))),
      )
    } catch {
      return null
    }
  }

  async function compare(body: Uint8Array, type: string): Promise<void> {
    const ours = multipartField(body, type, 'payload')
    const all = await theirs(body, type)
    if (all === null) return
    const [only] = all
    if (all.length !== 1) expect(ours).toBeNull()
    else if (ours !== null) {
      // Text is read as UTF-8, with bytes that are not UTF-8 replaced.
      if (typeof only === 'string')
        expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(ours)).toBe(only)
      else expect(Buffer.from(ours).equals(Buffer.from(only!))).toBe(true)
    }
  }

  /** Bodies of one or more parts, each with this Content-Disposition. */
  const read = (...dispositions: string[]) => {
    const parts = dispositions.map(
      (disposition, i) => `--x\r\nContent-Disposition: ${disposition}\r\n\r\nvalue ${i}\r\n`,
    )
    const field = multipartField(
      bytes(`${parts.join('')}--x--\r\n`),
      'multipart/form-data; boundary=x',
      'payload',
    )
    return field === null ? null : Buffer.from(field).toString()
  }

  test('the name of a field is not looked for in the name of a file', () => {
    const file = String.raw`form-data; filename="a; name=\"payload\"; b.txt"; name="file"`
    expect(read(file)).toBeNull()
    expect(read(file, 'form-data; name="payload"')).toBe('value 1')
    expect(read(String.raw`form-data; filename="a\\"; name="payload"`)).toBe('value 0')
    expect(read(String.raw`form-data; name="payload"; filename="; name=\"file\""`)).toBe('value 0')
    expect(read('form-data;name=payload ; filename="; name=file"')).toBe('value 0')
    expect(read('form-data; filename*=utf-8\'\'a%3B%20name; NAME="payload"')).toBe('value 0')
  })

  test.each([
    [
      'a quote in the name of a file has no backslash',
      'form-data; filename="a; name="payload""; name="file"',
    ],
    ['the same, behind the name', 'form-data; name="file"; filename="a; name="payload""'],
    [
      'a backslash stands before the last quote',
      String.raw`form-data; filename="a\"; name="payload"; name="file"`,
    ],
    ['it has two names', 'form-data; filename="a"; name="payload"; name="file"'],
    ['it has two lines', 'form-data; name="payload"\r\ncontent-disposition: form-data; name="file"'],
  ])('a body is refused when a part can be read in two ways: %s', (_, disposition) => {
    expect(read(disposition)).toBeNull()
    expect(read('form-data; name="payload"', disposition)).toBeNull()
    expect(read(disposition, 'form-data; name="payload"')).toBeNull()
  })

  test('a body that undici writes is read as undici reads it', async () => {
    await fc.assert(
      fc.asyncProperty(fields, async (list) => {
        const { body, type } = await written(list)
        await compare(body, type)
        const own = list.filter(([name]) => name === 'payload')
        if (own.length === 1) expect(multipartField(body, type, 'payload')).not.toBeNull()
      }),
      { numRuns: fuzzRuns(300, 5) },
    )
  })

  test('a body that was cut, changed or joined is read alike or refused', async () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat(6),
      insert: fc.oneof(value, fc.constantFrom('"', '-')),
    })
    await fc.assert(
      fc.asyncProperty(fields, fc.array(change, { minLength: 1, maxLength: 3 }), async (list, changes) => {
        const { body, type } = await written(list)
        let changed: Uint8Array = body
        for (const { at, remove, insert } of changes) {
          const place = at % (changed.length + 1)
          changed = Buffer.concat([
            changed.subarray(0, place),
            bytes(insert),
            changed.subarray(place + remove),
          ])
        }
        await compare(changed, type)
      }),
      { numRuns: fuzzRuns(500, 5) },
    )
  })
})

describe('XML', () => {
  interface Element {
    readonly tag: string
    readonly inside: string | readonly Element[]
  }
  const escaped = (text: string) => text.replace(/[<>&"']/g, (c) => `&${names[c]};`)
  const names: Record<string, string> = { '<': 'lt', '>': 'gt', '&': 'amp', '"': 'quot', "'": 'apos' }
  const tag = fc.constantFrom('id', 'ids', 'subject', 'transaction', 'kind')
  const { tree } = fc.letrec<{ tree: Element }>((tie) => ({
    tree: fc.record({
      tag,
      inside: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: fc.constantFrom('a', '1', '<', '&', '>', '"', 'ü', '-', ']') }),
        fc.array(tie('tree'), { maxLength: 4 }),
      ),
    }),
  }))
  const spelling = fc.constantFrom('', ' a="1 > 0"', '\n', " b='</id>'")
  const noise = fc.constantFrom('', '\n  ', '<!-- <id>no</id> -->', '<?x <id> ?>', '<note/>')

  function write({ tag, inside }: Element, attributes: string, between: string): string {
    const content =
      typeof inside === 'string'
        ? escaped(inside)
        : inside.map((one) => between + write(one, attributes, between)).join('')
    // An attribute with the character < is not well-formed.
    return `<${tag}${attributes.replaceAll('<', '&lt;')}>${content}</${tag}>`
  }

  function expected(element: Element, path: readonly string[]): string | undefined {
    let at = element
    if (at.tag !== path[0]) return undefined
    for (const tag of path.slice(1)) {
      const next = typeof at.inside === 'string' ? undefined : at.inside.find((one) => one.tag === tag)
      if (next === undefined) return undefined
      at = next
    }
    if (typeof at.inside === 'string') return at.inside
    return at.inside.length === 0 ? '' : undefined
  }

  test('the text of a path is that of the elements on it, and of no element with the same name elsewhere', () => {
    const path = fc.array(tag, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(tree, path, spelling, noise, (element, tags, attributes, between) => {
        const xml = `<?xml version="1.0"?>${between}${write(element, attributes, between)}`
        const wanted = expected(element, tags)
        const ours = xmlText(xml, tags.join('.'))
        // Comments and empty elements beside no child are text to nobody.
        if (wanted !== undefined || ours !== undefined) expect([xml, ours]).toEqual([xml, wanted?.trim()])
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  test('a document that the reader of the Braintree SDK accepts has the same text in both', () => {
    const change = fc.record({
      at: fc.nat(),
      remove: fc.nat(3),
      insert: fc.constantFrom('', '<', '>', '</id>', '<id>', '"', '/'),
    })
    fc.assert(
      fc.property(tree, fc.array(change, { maxLength: 2 }), (element, changes) => {
        let xml = `<kind>${write(element, '', '')}</kind>`
        for (const { at, remove, insert } of changes) {
          const place = at % (xml.length + 1)
          xml = xml.slice(0, place) + insert + xml.slice(place + remove)
        }
        const ours = xmlText(xml, 'kind.id')
        let theirs: { kind?: { id?: unknown } } | null = null
        try {
          parseString(xml, { async: false, explicitArray: false, trim: true }, (error, result) => {
            if (!error) theirs = result as typeof theirs
          })
        } catch {
          return // its end of a document that is not well-formed
        }
        const found = (theirs as { kind?: { id?: unknown } } | null)?.kind?.id
        if (ours !== undefined && typeof found === 'string') expect([xml, ours]).toEqual([xml, found])
      }),
      { numRuns: fuzzRuns(2_000) },
    )
  })

  test('a document of brackets is refused in time that grows with its length', () => {
    for (const text of [
      '<'.repeat(200_000),
      '<a '.repeat(100_000),
      '<a>'.repeat(100_000),
      '<a b="'.repeat(50_000),
    ])
      expect(xmlText(text, 'a.b')).toBeUndefined()
  })
})

describe('a Braintree notification', () => {
  test('a dispute is referred to by its own id, not by the id of its transaction', () => {
    const xml = `<notification><kind>dispute_opened</kind><subject><dispute>
      <transaction><id>tx_1</id></transaction><id>dispute_1</id></dispute></subject></notification>`
    expect(xmlText(xml, 'notification.subject.transaction.id')).toBeUndefined()
    expect(xmlText(xml, 'notification.subject.dispute.id')).toBe('dispute_1')
  })
})
