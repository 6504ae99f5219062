/** Only a complete signature, made with a configured secret, is accepted. */
import assert from 'node:assert/strict'
import { changeField, withBody, withHeader, withoutField } from './changes.js'
import { applies, appliesIf, type ContractCase, now, type Trial } from './trial.js'

export function signatureCases(trial: Trial): readonly ContractCase[] {
  const { factory, credential, options, source, scheme, place, each } = trial
  const changed = async (change: (text: string) => string) =>
    changeField(await trial.signed(), place, change, each)

  return [
    applies('every truncation of the signature is refused', async () => {
      // One signature for all lengths: those of ECDSA differ in length.
      const delivery = await trial.signed()
      const text = trial.signature(delivery)
      for (let length = 0; length < text.length; length += 1) {
        await trial.refuse(
          changeField(delivery, place, (whole) => whole.slice(0, length), each),
          `${length} of ${text.length} characters`,
        )
      }
    }),

    applies('a signature with something before or after it is refused', async () => {
      for (const change of [append('0'), append('='), (text: string) => `x${text}`]) {
        await trial.refuse(await changed(change), 'a longer signature')
      }
    }),

    appliesIf(
      scheme.encoding === 'base64',
      'scheme.encoding',
      'base64 with letters instead of padding is refused',
      async () => {
        await trial.refuse(
          await changed((text) => text.replace(/=*$/, (padding) => 'A'.repeat(padding.length || 4))),
          'a byte more',
        )
      },
    ),

    appliesIf(
      scheme.encoding !== null,
      'scheme.encoding',
      'hex is accepted in either case, base64 only in the exact case',
      async () => {
        const upper = (text: string) => text.replace(/[0-9a-f]{32,}$/, (hex) => hex.toUpperCase())
        if (scheme.encoding === 'hex') await trial.accept(await changed(upper), 'upper-case hex')
        else await trial.refuse(await changed(swapCase), 'base64 in the other case')
      },
    ),

    applies('a missing signature is refused', async () => {
      const verdict = await trial.refuse(withoutField(await trial.signed(), place, each), 'no signature')
      assert.deepEqual(verdict, { ok: false, reason: 'missing_signature' })
    }),

    applies('a delivery signed with another secret is refused', async () => {
      await trial.refuse(
        await trial.signed({ from: trial.make(factory.example(credential)) }),
        'another secret',
      )
    }),

    applies('each of several secrets is accepted and counted', async () => {
      const next = factory.example(credential)
      const rotating = trial.make({ ...next, [credential]: [next[credential], options[credential]] })
      assert.deepEqual(await rotating.verify(await trial.signed(), { now }), { ok: true, secretIndex: 1 })
      assert.deepEqual(rotating.secretHits, [0, 1])
      const own = await trial.signed({ from: rotating })
      assert.deepEqual(await rotating.verify(own, { now }), { ok: true, secretIndex: 0 })
      assert.deepEqual(rotating.secretHits, [1, 1])
    }),

    appliesIf(
      scheme.separator !== null,
      'scheme.separator',
      'one valid signature among several is enough, in any order',
      async () => {
        const separator = scheme.separator!
        const good = trial.signature(await trial.signed())
        const foreign = trial.signature(await trial.signed({ from: trial.make(factory.example(credential)) }))
        // A timestamp before the signatures belongs to all of them.
        const start = scheme.timestamp?.in === 'signature' ? good.indexOf(separator) + separator.length : 0
        const all = (...texts: string[]) =>
          good.slice(0, start) + texts.map((text) => text.slice(start)).join(separator)
        await trial.accept(await changed(() => all(foreign, good)), 'good last')
        await trial.accept(await changed(() => all(good, foreign)), 'good first')
        await trial.refuse(await changed(() => all(foreign, foreign)), 'none good')
        await trial.refuse(await changed(() => all(...new Array(1_000).fill(good))), 'a flood of signatures')
      },
    ),

    applies('no delivery causes an exception', async () => {
      const good = await trial.signed()
      for (const text of odd) {
        await trial.refuse(
          changeField(good, place, () => text, each),
          JSON.stringify(text.slice(0, 20)),
        )
        for (const name of Object.keys(good.headers))
          await source.verify(withHeader(good, name, text), { now })
      }
      const bodies = oddBodies.map((body) => withBody(good, Buffer.from(body)))
      const urls = oddUrls.flatMap((url) => [
        { ...good, url },
        { ...good, url, method: 'GET' },
      ])
      for (const delivery of [...bodies, ...urls, { ...good, headers: {} }]) {
        await source.verify(delivery, { now })
        assert.ok(Array.isArray(source.identify(delivery)))
        source.handshake(delivery, { now })
      }
    }),
  ]
}

const odd = [
  '',
  ',',
  '=',
  'v1,',
  't=,v1=',
  '\0',
  '\u{1f389}',
  'a'.repeat(20_000),
  'Basic',
  'Bearer ',
  '..',
  '{}',
]
const oddBodies = ['', '[', '{"id":', '[]', '{}', 'null', '\ufeff{}', '{"id":1,"id":2}', '['.repeat(100_000)]
const oddUrls = ['', '/', '?', '/%ff?%=%zz', 'https://[::1', `/?${'a=1&'.repeat(2_000)}`]

function append(end: string) {
  return (text: string) => text + end
}

function swapCase(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}
