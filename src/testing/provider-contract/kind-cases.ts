/** Every kind of delivery that the sender documents is accepted. A redelivery has the same id, a different event another. */
import assert from 'node:assert/strict'
import type { Delivery, SignOptions, Source } from '../../provider.js'
import type { Changes, Kind, Kinds } from '../../providers/kind.js'
import { kindRequest } from './kind-request.js'
import { applies, type ContractCase, now, type Trial } from './trial.js'

const laterMs = 60_000

export function kindCases(trial: Trial, kinds: Kinds): readonly ContractCase[] {
  return kinds
    .filter(({ credential }) => credential === undefined || credential === trial.credential)
    .flatMap((kind) => (kind.handshake ? [handshakeCase(trial, kind)] : eventCases(trial, kind)))
}

function handshakeCase(trial: Trial, kind: Kind): ContractCase {
  return applies(`${kind.name}: it is answered as a handshake`, async () => {
    const source = sourceOf(trial, kind)
    const request = kindRequest(trial.factory, kind, now)
    const delivery = kind.handshake === 'unsigned' ? bare(request) : await source.sign(request)
    assert.ok(source.handshake(delivery, { now }) !== null, 'it is answered as a handshake')
  })
}

function eventCases(trial: Trial, kind: Kind): readonly ContractCase[] {
  const source = sourceOf(trial, kind)
  const { events: expected = 1 } = kind
  const signed = async (changes?: Changes) => source.sign(kindRequest(trial.factory, kind, now, changes))

  return [
    applies(`${kind.name}: it is accepted and its events have ids`, async () => {
      const delivery = await signed()
      const events = await accepted(source, delivery, now)
      if (typeof expected === 'number') assert.equal(events.length, expected, 'the number of events')
      else assert.deepEqual(types(events), expected)
      assert.equal(new Set(ids(events)).size, events.length, `events have different ids: ${ids(events)}`)
    }),

    applies(
      kind.repeated === undefined
        ? `${kind.name}: a redelivery has the same id`
        : `${kind.name}: a redelivery is handled again`,
      async () => {
        const first = await signed()
        const { redelivery = usualRedelivery(trial) } = kind
        const again = Object.keys(redelivery).length === 0 ? first : await signed(redelivery)
        const before = ids(await accepted(source, first, now))
        const after = ids(await accepted(source, again, now + (redelivery.timestamp ?? 0)))
        if (kind.repeated === undefined) assert.deepEqual(after.sort(), before.sort())
        else assert.notDeepEqual(after, before, 'the ids are the same: remove `repeated`')
      },
    ),

    ...(kind.another === undefined && kind.merged !== undefined
      ? []
      : [applies(`${kind.name}: another event has another id`, () => othersDiffer())]),
  ]

  async function othersDiffer(): Promise<void> {
    const others = [kind.another ?? []].flat() as Changes[]
    assert.ok(
      others.length > 0,
      'the kind needs `another` (the fields that differ in another event) or `merged`',
    )
    const first = await signed()
    const known = new Set(ids(await accepted(source, first, now)))
    for (const changes of others) {
      const delivery = await signed(changes)
      const found = ids(await accepted(source, delivery, now + (changes.timestamp ?? 0)))
      const fresh = found.filter((id) => !known.has(id))
      assert.ok(fresh.length > 0, `${JSON.stringify(changes)} gives the known id ${found}`)
      for (const id of fresh) known.add(id)
    }
  }
}

function bare({ method = 'POST', url = '', headers = {}, body }: SignOptions): Delivery {
  return { method, url, headers, body: typeof body === 'string' ? Buffer.from(body) : body }
}

/** If the signed time is compared with the clock, the sender signs each attempt; otherwise it repeats the bytes. */
function usualRedelivery({ scheme }: Trial): Changes {
  return typeof scheme.timestamp?.toleranceMs === 'number' ? { timestamp: laterMs } : {}
}

async function accepted(source: Source, delivery: Delivery, at: number) {
  const verdict = await source.verify(delivery, { now: at })
  assert.ok(verdict.ok, `it must be accepted: ${JSON.stringify(verdict)}`)
  assert.equal(source.handshake(delivery, { now: at }), null, 'it is an event, not a handshake')
  const events = source.identify(delivery)
  assert.ok(events.length > 0, 'at least one event has an id')
  return events
}

function sourceOf(trial: Trial, kind: Kind): Source {
  return kind.options === undefined ? trial.source : trial.make({ ...trial.options, ...kind.options })
}

const ids = (events: readonly { id: string }[]): string[] => events.map(({ id }) => id)
const types = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type)
