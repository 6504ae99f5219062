/** Every sample is a valid delivery, and its events always have the same ids. */
import assert from 'node:assert/strict'
import type { EventRule, Field } from '../../verification/define-provider.js'
import { isList, leaves } from '../../verification/delivery/field.js'
import { type AnyFactory, applies, appliesIf, type ContractCase, now, sampleId, type Trial } from './trial.js'

export function identityCases(trial: Trial): readonly ContractCase[] {
  const { factory, source } = trial
  const ids = async (type: string, nth: number) => {
    const delivery = await trial.signed({ type, id: sampleId(factory, nth) })
    return source.identify(delivery).map(({ id }) => id)
  }
  return [
    applies('its facts are complete', async () => {
      assert.match(source.docs, /^https:\/\//)
      assert.equal(source.key, factory.key)
      assert.ok(source.sampleTypes.length > 0, 'it has a sample')
      assert.ok(source.retryWindowMs === null || source.retryWindowMs >= 0)
      assert.equal(source.unverified, false)
    }),

    applies('every sample is verified and has its own type', async () => {
      for (const type of source.sampleTypes) {
        const delivery = await trial.signed({ type })
        assert.deepEqual(await source.verify(delivery, { now }), { ok: true, secretIndex: 0 }, type)
        assert.equal(source.handshake(delivery, { now }), null, 'an event is not a handshake')
        const events = source.identify(delivery)
        assert.equal(events[0]?.type, type)
        for (const { id, payload } of events) {
          assert.ok(id !== '' && Buffer.byteLength(id) <= 255, `the id of ${type}`)
          assert.notEqual(payload, undefined)
        }
      }
    }),

    appliesIf(
      !idsAreUnique(factory),
      'its id is `unique`',
      'the same event has the same ids, another event has other ids',
      async () => {
        for (const type of source.sampleTypes) {
          const first = await ids(type, 1)
          if (hasNewIds(factory) && (await ids(type, 1)).every((id) => !first.includes(id))) continue
          assert.equal(
            new Set(first).size,
            first.length,
            `${type}: events of one delivery have different ids`,
          )
          assert.deepEqual(await ids(type, 1), first)
          for (const id of await ids(type, 2)) assert.ok(!first.includes(id), `${type}: ${id} is used twice`)
        }
      },
    ),

    appliesIf(
      rulesOf(factory).some((rule) => rule.idFromOutside),
      'no rule has `idFromOutside`',
      'a known id with another content is another event',
      async () => {
        for (const type of source.sampleTypes) {
          const sample = source.sample({ now, type, id: sampleId(factory, 1) })
          const named = async (body: typeof sample.body) =>
            source.identify(await source.sign({ ...sample, body })).map(({ id }) => id)
          const first = await named(sample.body)
          assert.deepEqual(await named(sample.body), first)
          const other = await named(String(sample.body).replace('{', '{"note":"other",'))
          for (const id of other) assert.ok(!first.includes(id), `${type}: a guessed id hides an event`)
        }
        for (const { idFromOutside, content } of rulesOf(factory)) {
          assert.ok(!idFromOutside || content !== 'none', 'the bytes of a redelivery must be equal')
        }
      },
    ),
  ]
}

function rulesOf(factory: AnyFactory): readonly EventRule[] {
  return [factory.definition.events].flat() as EventRule[]
}

/** Equal bodies of such a sender are different events, so a retry cannot be distinguished. */
function idsAreUnique(factory: AnyFactory): boolean {
  return rulesOf(factory).some((rule) => !rule.otherwise && leaves(firstChoice(rule.id)).includes('unique'))
}

/** A later rule gives a new id each time; the kinds test the events of that rule. */
function hasNewIds(factory: AnyFactory): boolean {
  return rulesOf(factory).some((rule) => rule.otherwise && leaves(rule.id).includes('unique'))
}

/** Samples have the first choice of each rule; the kinds test the later choices. */
function firstChoice(field: Field): Field {
  return typeof field !== 'string' && isList(field) ? firstChoice(field[0]!) : field
}
