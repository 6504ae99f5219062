/** Raw bytes: a delivery comes back exactly as it was recorded. */
import assert from 'node:assert/strict'
import {
  bytes,
  type ContractCase,
  claimEvent,
  delivery,
  event,
  key,
  random,
  record,
  recordEvent,
} from './support.js'

const next = random(10)

const bodies: readonly (readonly [string, Uint8Array])[] = [
  ['an empty body', new Uint8Array(0)],
  ['NUL bytes', Uint8Array.of(0, 0x7b, 0, 0x7d, 0)],
  ['a NUL escape in JSON', bytes('{"name":"a\\u0000b"}')],
  ['an escaped lone surrogate in JSON', bytes('{"name":"\\ud800"}')],
  ['a lone surrogate in WTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ['UTF-16 with a lone surrogate', Uint8Array.of(0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00)],
  ['invalid UTF-8', Uint8Array.of(0xff, 0xc0, 0x80, 0xf5, 0x80, 0xfe)],
  ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
  ['duplicate keys', bytes('{"id":1,"id":2, "id" : 1}')],
  ['numbers of 20 digits and more', bytes('{"id":12345678901234567890,"x":1e400,"y":1.10}')],
  ['text that is not JSON', bytes('id=1&type=a%20b\r\n')],
  ['what looks like an escape of a database', bytes("\\x00 \\\\ '' %s $1 \\.")],
  ['all byte values', Uint8Array.from({ length: 256 }, (_, i) => i)],
  ['1 MiB of noise', Uint8Array.from({ length: 1_048_576 }, () => Math.floor(next() * 256))],
]

export const byteCases: readonly ContractCase[] = [
  ...bodies.map(([what, body]) => ({
    name: `a body comes back byte for byte: ${what}`,
    async run({ open }: Parameters<ContractCase['run']>[0]) {
      const store = await open()
      const of = await recordEvent(store, 'a', { body })
      if (store.inspect) {
        const payload = await store.inspect.payload(of)
        assert.ok(payload?.body instanceof Uint8Array)
        assert.ok(Buffer.from(body).equals(payload.body), 'the payload is equal')
      }
      const claimed = await claimEvent(store, of)
      assert.ok(claimed.body && Buffer.from(body).equals(claimed.body), 'what a worker gets is equal')
    },
  })),
  {
    name: 'a body that is a view into a larger buffer is stored as the view, not as the buffer',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const pool = Buffer.from('secret|the body|secret')
      await recordEvent(store, 'a', { body: pool.subarray(7, 15) })
      assert.equal(Buffer.from((await store.inspect.payload(key('a')))?.body ?? []).toString(), 'the body')
    },
  },
  {
    name: 'headers come back as they were recorded',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const headers = Object.fromEntries([
        ['content-type', 'application/json; charset="utf-8"'],
        ['x-empty', ''],
        ['x-quotes', `'"\\`],
        ['x-latin1', 'caf\u00e9'],
        ['x-unicode', 'snow \u2603 \u{1f600}'],
        ['constructor', 'not special'],
        ['__proto__', 'not special either'],
      ])
      const of = await recordEvent(store, 'a', { headers })
      assert.deepEqual(entries((await store.inspect.payload(of))?.headers), entries(headers))
      assert.deepEqual(entries((await claimEvent(store, of)).headers), entries(headers))
    },
  },
  {
    name: 'a header that databases reject (NUL, lone surrogate) comes back or is refused, and its neighbours are recorded',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      for (const [i, value] of ['a\0b', '\ud800'].entries()) {
        const headers = { 'x-odd': value }
        const verdicts = await record(
          store,
          delivery(`before ${i}`),
          delivery(`odd ${i}`, { headers }),
          delivery(`after ${i}`),
        )
        assert.equal(verdicts[0]?.status, 'recorded')
        assert.equal(verdicts[2]?.status, 'recorded')
        if (verdicts[1]?.status === 'refused') continue
        assert.deepEqual(entries((await store.inspect.payload(key(`odd ${i}`)))?.headers), entries(headers))
      }
    },
  },
  {
    name: 'the events of one delivery share its bytes, and each has its own `part` number',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const body = bytes('[{"id":"a"},{"id":"b"},{"id":"c"}]')
      const ids = ['a', 'b', 'c']
      const verdicts = await store.record([
        delivery(
          ids.map((id) => event(id)),
          { body },
        ),
      ])
      assert.deepEqual(
        verdicts[0]?.map((v) => v.status),
        ['recorded', 'recorded', 'recorded'],
      )
      for (const [part, id] of ids.entries()) {
        const payload = await store.inspect.payload(key(id))
        assert.equal(payload?.part, part)
        assert.ok(Buffer.from(body).equals(payload.body))
        const claimed = await claimEvent(store, key(id))
        assert.equal(claimed.part, part)
        assert.ok(claimed.body && Buffer.from(body).equals(claimed.body))
      }
    },
  },
  {
    name: 'a delivery with some known and some new events records the new events with its own bytes',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const [first, second] = [bytes('["a","b"]'), bytes('["b","c","a","d"]')]
      await store.record([delivery([event('a'), event('b')], { body: first })])
      const verdicts = await store.record([
        delivery([event('b'), event('c'), event('a'), event('d')], { body: second }),
      ])
      assert.deepEqual(
        verdicts[0]?.map((v) => v.status),
        ['duplicate', 'recorded', 'duplicate', 'recorded'],
      )
      for (const [id, body, part] of [
        ['a', first, 0],
        ['b', first, 1],
        ['c', second, 1],
        ['d', second, 3],
      ] as const) {
        const payload = await store.inspect.payload(key(id))
        assert.equal(payload?.part, part, `part of ${id}`)
        assert.ok(Buffer.from(body).equals(payload.body), `body of ${id}`)
      }
    },
  },
]

function entries(headers: Readonly<Record<string, string>> | undefined): [string, string][] {
  return Object.entries(headers ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}
