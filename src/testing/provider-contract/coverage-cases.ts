/** The signature covers what the facts say: body, fields, URL, timestamp. */
import assert from 'node:assert/strict'
import type { Delivery } from '../../provider.js'
import { changeField, fieldText, withBody, withByte, withoutField } from './changes.js'
import {
  applies,
  appliesIf,
  type ContractCase,
  inEach,
  now,
  otherText,
  sampleId,
  type Trial,
} from './trial.js'

export function coverageCases(trial: Trial): readonly ContractCase[] {
  return [...bodyCases(trial), ...fieldCases(trial), ...timestampCases(trial), ...receiverCases(trial)]
}

/** One key signs for all customers of the sender: a signed value must name us. */
function receiverCases(trial: Trial): readonly ContractCase[] {
  const { factory, source, scheme } = trial
  const isPublic = ['rsa', 'ecdsa', 'ed25519'].includes(scheme.kind) || scheme.credential === 'publicKey'
  const namedBy = source.sharedKey?.namedBy ?? null
  return [
    appliesIf(isPublic, 'its key is secret', 'it says whose deliveries its key signs', async () => {
      const { sharedKey } = factory.definition
      assert.notEqual(sharedKey, undefined, 'the definition needs `sharedKey`')
      if (sharedKey && namedBy === null) assert.ok(sharedKey.note, '`sharedKey` needs `namedBy` or `note`')
      if (namedBy !== null)
        assert.ok(factory.definition.options?.[namedBy]?.required, `${namedBy} is required`)
    }),

    appliesIf(
      namedBy !== null,
      'sharedKey.namedBy',
      'a delivery for another customer of the sender is refused',
      async () => {
        const other = trial.make({ ...trial.options, [namedBy!]: otherText(String(trial.options[namedBy!])) })
        for (const type of source.sampleTypes) {
          const delivery = await trial.signed({ type })
          await trial.accept(delivery, type)
          await trial.refuse(delivery, `${type} for another customer`, other)
          await trial.accept(await trial.signed({ from: other, type }), `${type} of its own samples`, other)
        }
      },
    ),
  ]
}

/** A text of the document gets the byte: the other values stay readable. */
function withOddByte(body: Buffer, byte: number): Buffer {
  const odd = Buffer.from([byte])
  if (body[0] !== 0x7b) return Buffer.concat([body, odd])
  return Buffer.concat([Buffer.from('{"note":"'), odd, Buffer.from('",'), body.subarray(1)])
}

function bodyCases(trial: Trial): readonly ContractCase[] {
  const { factory, source, scheme, place } = trial
  const isCovered = scheme.covers.body !== 'none'
  // A signature or timestamp in the body is written as JSON, so arbitrary bytes cannot be signed then.
  const takesBytes = ![place, scheme.timestamp?.in].some((field) => field?.startsWith('json:'))
  return [
    appliesIf(isCovered, 'scheme.covers.body', 'each changed byte of the body is refused', async () => {
      const delivery = await trial.signed()
      for (let at = 0; at < delivery.body.length; at += 1)
        await trial.refuse(withByte(delivery, at), `byte ${at}`)
    }),

    appliesIf(
      scheme.covers.body === 'bytes' && takesBytes,
      'scheme.covers.body is bytes',
      'different bytes that are not UTF-8 are distinguished',
      async () => {
        const sample = source.sample({ now, id: sampleId(factory, 1) })
        const body = (byte: number) => withOddByte(Buffer.from(sample.body), byte)
        const delivery = await source.sign({ ...sample, body: body(0xff) })
        await trial.accept(delivery, 'the bytes that were signed')
        await trial.refuse(withBody(delivery, body(0xfe)), '0xfe for 0xff')
      },
    ),

    appliesIf(isCovered, 'scheme.covers.body', 'text beyond ASCII is verified as sent', async () => {
      const sample = source.sample({ now, id: sampleId(factory, 1) })
      const text = Buffer.from(sample.body).toString('utf8')
      const isForm = sample.headers?.['content-type']?.includes('form') === true
      const body = isForm ? `${text}&note=Zo%C3%AB` : text.replace('{', '{"note":"Zoë 🎉 \\u00eb",')
      const delivery = await source.sign({ ...sample, body })
      await trial.accept(delivery, 'a body with other letters')
      assert.equal(source.identify(delivery).length, source.identify(await trial.signed()).length)
    }),

    applies('an empty body is refused if the body is signed', async () => {
      const delivery = await trial.signed()
      const empty = withBody(delivery, new Uint8Array())
      if (isCovered && delivery.body.length > 0) await trial.refuse(empty, 'an empty body')
      assert.ok(Array.isArray(source.identify(empty)))
    }),
  ]
}

function fieldCases(trial: Trial): readonly ContractCase[] {
  const { source, scheme, each } = trial
  const fields = scheme.covers.fields.filter((name) => /^(header|json|form|query):/.test(name))
  const cases = fields.map((field) =>
    applies(`a changed ${field} is refused`, async () => {
      let tried = 0
      for (const type of source.sampleTypes) {
        const delivery = await trial.signed({ type })
        if (!fieldText(delivery, inEach(field, each))) continue
        tried += 1
        await trial.refuse(changeField(delivery, field, otherText, each), `${type}: ${field}`)
      }
      assert.ok(tried > 0, `no sample has ${field}: add one that does`)
    }),
  )
  const url = appliesIf(scheme.covers.url, 'scheme.covers.url', 'another URL is refused', async () => {
    const delivery = await trial.signed()
    await trial.refuse(
      { ...delivery, url: `${delivery.url}${delivery.url.includes('?') ? '&' : '?'}a=1` },
      'another query',
    )
  })
  return [...cases, url]
}

function timestampCases(trial: Trial): readonly ContractCase[] {
  const { options, scheme, place, each } = trial
  const stamp = scheme.timestamp
  const isField = stamp !== null && /^(header|json|query|form):/.test(stamp.in)
  const refuseAll = async (deliveries: readonly Delivery[]) => {
    for (const delivery of deliveries) await trial.refuse(delivery, 'a wrong timestamp')
  }
  return [
    appliesIf(
      stamp !== null,
      'scheme.timestamp',
      'a timestamp outside the window is refused, on both sides',
      async () => {
        const limit = stamp!.toleranceMs ?? 60_000
        const strict = trial.make({ ...options, tolerance: limit })
        const at = (time: number) => trial.signed({ at: time })
        const old = await trial.refuse(await at(now - limit - 2_000), 'an old timestamp', strict)
        assert.deepEqual(old, { ok: false, reason: 'stale_timestamp' })
        const early = await trial.refuse(await at(now + limit + 2_000), 'a timestamp in the future', strict)
        assert.deepEqual(early, { ok: false, reason: 'future_timestamp' })
        if (limit > 2_000) await trial.accept(await at(now - limit + 2_000), 'just inside the window', strict)
      },
    ),

    appliesIf(isField, 'scheme.timestamp.in', 'a changed or malformed timestamp is refused', async () => {
      const delivery = await trial.signed()
      const changes = [otherText, (text: string) => `${text}abc`, (text: string) => ` ${text}`]
      const texts = ['-1', '1e9', '', '0x10', 'NaN', '9'.repeat(14)]
      await refuseAll(changes.map((change) => changeField(delivery, stamp!.in, change, each)))
      await refuseAll(texts.map((text) => changeField(delivery, stamp!.in, () => text, each)))
      await refuseAll([withoutField(delivery, stamp!.in, each)])
    }),

    appliesIf(
      stamp?.in === 'signature',
      'scheme.timestamp.in',
      'a timestamp inside the signature cannot be changed',
      async () => {
        const delivery = await trial.signed()
        const change = (to: (text: string) => string) =>
          changeField(delivery, place, (text) => text.replace(/\d{10,13}/, to), each)
        await refuseAll([
          change(otherText),
          change(() => ''),
          change((text) => `${text}abc`),
          change((text) => `0${text}`),
        ])
      },
    ),
  ]
}
