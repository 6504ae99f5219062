/** References: labelled ones beside that of the event. Events are found, and erased, by any of them. */
import assert from 'node:assert/strict'
import type { NewEvent, Outcome, Reference } from '../../model.js'
import { limits } from '../../model.js'
import type { CompleteStore, EraseOptions } from '../../store.js'
import {
  attempt,
  type ContractCase,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  listAll,
  operate,
  range,
  record,
  recordEvent,
  rejects,
  SOURCE,
  settleIn,
  settlement,
  sha256,
  succeeded,
} from './support.js'

const labelled = (label: string, value: string): Reference => ({ label, value })
const customer = (value: string) => labelled('customer', value)
const invoice = (value: string) => labelled('invoice', value)

const about = (id: string, references: readonly Reference[], more: Partial<NewEvent> = {}): NewEvent =>
  event(id, { reference: references[0]?.value ?? null, references, ...more })

async function idsWith(store: CompleteStore, reference: string, label?: string): Promise<string[]> {
  const found = await listAll(store, label === undefined ? { reference } : { reference, label })
  return found.map(({ id }) => id).sort()
}

const referencesOf = async (store: CompleteStore, id: string) => (await get(store, key(id))).references

async function settleWith(
  store: CompleteStore,
  id: string,
  outcome: Outcome,
  references: readonly Reference[],
): Promise<void> {
  const { lease } = await claimEvent(store, key(id))
  assert.deepEqual(await store.settle([{ ...settlement(lease, outcome), references }]), [true])
}

const erase = (store: CompleteStore, reference: string, more: Partial<EraseOptions> = {}) =>
  store.archive.erase({ reference, actor: 'ada', note: 'asked to', limit: 100, ...more })

const plain = delivery(about('paid', [invoice('in_1'), customer('cus_1')]))

export const referenceCases: readonly ContractCase[] = [
  {
    name: 'an event is found by each of its references, with the label or without',
    async run({ open }) {
      const store = await open()
      const grouped = [
        about('grouped 1', [customer('cus_1')]),
        about('grouped 2', [customer('cus_2'), invoice('in_1')]),
      ]
      const late = about('late', [invoice('in_1'), customer('cus_1')], {
        guardHash: sha256('late'),
        lane: 'l',
      })
      await store.record([plain, delivery(grouped), delivery(late)])
      await recordEvent(store, 'without')
      assert.deepEqual(await idsWith(store, 'in_1'), ['grouped 2', 'late', 'paid'])
      assert.deepEqual(await idsWith(store, 'cus_1'), ['grouped 1', 'late', 'paid'])
      assert.deepEqual(await idsWith(store, 'cus_1', 'customer'), ['grouped 1', 'late', 'paid'])
      assert.deepEqual(await idsWith(store, 'in_1', 'invoice'), ['grouped 2', 'late', 'paid'])
      assert.deepEqual(await idsWith(store, 'cus_1', 'invoice'), [])
      assert.deepEqual(await idsWith(store, 'cus_2', 'customer'), ['grouped 2'])
      assert.deepEqual(
        (await listAll(store, { reference: 'cus_1', state: 'pending' }, 1)).map(({ id }) => id),
        ['late', 'grouped 1', 'paid'],
        'page by page',
      )
    },
  },
  {
    name: 'an event returns its references, first its own one if that has a label, then the others by label',
    async run({ open }) {
      const store = await open()
      const many = [labelled('order', 'o'), customer('b'), customer('a')]
      await store.record([plain, delivery(about('many', many)), delivery(event('own', { reference: 'x:1' }))])
      assert.deepEqual(await referencesOf(store, 'paid'), [invoice('in_1'), customer('cus_1')])
      assert.deepEqual(await referencesOf(store, 'many'), [
        labelled('order', 'o'),
        customer('a'),
        customer('b'),
      ])
      assert.deepEqual(await referencesOf(store, 'own'), [])
      assert.equal((await get(store, key('own'))).reference, 'x:1')
      assert.deepEqual(await idsWith(store, 'x:1'), ['own'], 'a value may have a colon')
      const page = await store.tail({ after: 0, limit: 10 })
      assert.deepEqual(
        page.events.map(({ references }) => references.length),
        [2, 3, 0],
      )
    },
  },
  {
    name: 'two references with one value differ by their label',
    async run({ open }) {
      const store = await open()
      await store.record([
        delivery(about('order', [labelled('order', '25')])),
        delivery(about('customer', [customer('25')])),
        delivery(about('both', [labelled('order', '25'), customer('25')])),
      ])
      assert.deepEqual(await idsWith(store, '25'), ['both', 'customer', 'order'])
      assert.deepEqual(await idsWith(store, '25', 'customer'), ['both', 'customer'])
      assert.deepEqual(await idsWith(store, '25', 'order'), ['both', 'order'])
      assert.deepEqual(await referencesOf(store, 'both'), [labelled('order', '25'), customer('25')])
    },
  },
  {
    name: 'a duplicate does not change the references, and other content adds its own',
    async run({ open }) {
      const store = await open()
      await store.record([plain, plain, delivery(about('paid', [customer('cus_9')], plain.events[0]))])
      assert.deepEqual(await referencesOf(store, 'paid'), [invoice('in_1'), customer('cus_1')])
      const other = { contentHash: sha256('other') }
      await record(store, delivery(about('paid', [invoice('in_1'), customer('cus_2')], other)))
      assert.deepEqual(await idsWith(store, 'cus_1'), ['paid'])
      assert.deepEqual(await idsWith(store, 'cus_2', 'customer'), ['paid'])
      await record(store, delivery(event('paid', { reference: 'in_3', contentHash: sha256('third') })))
      assert.deepEqual(await idsWith(store, 'in_3'), ['paid'])
      await attempt(store, key('paid'), succeeded)
      const ran = await operate(store, 'replay', key('paid'), { force: true, conflict: true })
      assert.ok(ran.done)
      for (const one of ['in_1', 'cus_1', 'cus_2', 'in_3'])
        assert.deepEqual(await idsWith(store, one), ['paid'])
    },
  },
  {
    name: 'content that takes the place of content that was never handled brings its references',
    async run({ open }) {
      const store = await open()
      const shared = { guardHash: sha256('signed') }
      await record(store, delivery(about('first', [invoice('in_0')], shared)))
      await record(store, delivery(about('repeated', [invoice('in_1'), customer('cus_1')], shared)))
      const own = { contentHash: sha256('own'), guardHash: sha256('own') }
      await record(store, delivery(about('repeated', [invoice('in_2'), customer('cus_2')], own)))
      const now = await get(store, key('repeated'))
      assert.equal(now.state, 'pending')
      assert.equal(now.reference, 'in_2')
      assert.deepEqual(now.references[0], invoice('in_2'))
      for (const one of ['in_1', 'in_2', 'cus_1', 'cus_2'])
        assert.deepEqual(await idsWith(store, one), ['repeated'], `${one}: both contents are kept`)
    },
  },
  {
    name: 'references that a handler has learned are written with the outcome, unless the attempt has failed',
    async run({ open }) {
      const store = await open()
      for (const id of ['done', 'skipped', 'later', 'dead']) await recordEvent(store, id)
      const learned = [labelled('attempt', 'a1'), customer('cus_1')]
      await settleWith(store, 'done', succeeded, learned)
      await settleWith(store, 'skipped', ignored, learned)
      await settleWith(store, 'later', failedFor(DAY_MS), learned)
      await settleWith(store, 'dead', dead, learned)
      assert.deepEqual(await idsWith(store, 'a1', 'attempt'), ['done', 'skipped'])
      assert.deepEqual(await referencesOf(store, 'done'), learned)
      assert.ok((await operate(store, 'replay', key('done'), { force: true })).done)
      await settleWith(store, 'done', succeeded, [labelled('attempt', 'a2'), customer('cus_1')])
      assert.deepEqual(await referencesOf(store, 'done'), [
        labelled('attempt', 'a1'),
        labelled('attempt', 'a2'),
        customer('cus_1'),
      ])
    },
  },
  {
    name: 'learned references commit with the transaction of the handler, or not at all',
    async run({ open, advance }) {
      const store = await open()
      for (const id of ['finished', 'settled', 'rolled back', 'late']) await recordEvent(store, id)
      const learned = { references: [labelled('attempt', 'a1')] }
      for (const id of ['finished', 'settled', 'rolled back']) {
        const { lease } = await claimEvent(store, key(id))
        const transaction = await store.transaction({ leases: [lease] })
        const settled = { ...settlement(lease, succeeded), ...learned }
        if (id === 'finished') assert.equal(await transaction.finish([settled]), true)
        else assert.deepEqual(await transaction.settle([settled]), [true])
        if (id === 'settled') await transaction.commit()
        if (id === 'rolled back') await transaction.rollback()
      }
      const { lease } = await claimEvent(store, key('late'))
      await advance(LEASE_MS + 1)
      assert.deepEqual(await store.settle([{ ...settlement(lease, succeeded), ...learned }]), [false])
      const transaction = await store.transaction()
      assert.equal(await settleIn(transaction, lease, succeeded), false)
      await transaction.rollback()
      assert.deepEqual(await idsWith(store, 'a1'), ['finished', 'settled'])
    },
  },
  {
    name: 'references outside the limits are refused before anything is written',
    async run({ open }) {
      const store = await open()
      const most = range(limits.references).map((i) => customer(`c${i}`))
      await record(store, delivery(about('most', most)))
      assert.equal((await referencesOf(store, 'most')).length, limits.references)
      const wrong = [
        [...most, customer('one more')],
        [labelled('no label', 'x')],
        [labelled('reference', 'x')],
        [labelled('l'.repeat(limits.labelBytes + 1), 'x')],
        [customer('')],
        [customer('v'.repeat(limits.referenceBytes + 1))],
      ]
      for (const references of wrong) {
        const [verdict] = await record(store, delivery(event('wrong', { references })))
        assert.equal(verdict?.status === 'refused' && verdict.code, 'INVALID_INPUT')
      }
      const { lease } = await claimEvent(store, key('most'))
      await rejects(
        () => store.settle([{ ...settlement(lease, succeeded), references: wrong[1]! }]),
        'INVALID_INPUT',
      )
      await rejects(() => store.list({ label: 'customer' }), 'INVALID_INPUT')
      await rejects(() => store.list({ reference: 'x', label: 'reference' }), 'INVALID_INPUT')
    },
  },
  {
    name: 'consumers get the references with their copies',
    needs: ['consumers'],
    async run({ open }) {
      const store = await open()
      await store.consumers.open([{ source: 'shop/mail', from: 0 }])
      await store.record([plain])
      const { seq } = await get(store, key('paid'))
      const { position } = (await store.consumers.list())[0]!
      const copy = { source: 'shop/mail', from: position, to: seq, events: [{ seq, lane: null }] }
      assert.equal(await store.consumers.copy(copy), true)
      const copied = await get(store, key('paid', 'shop/mail'))
      assert.deepEqual(copied.references, [invoice('in_1'), customer('cus_1')])
      assert.deepEqual(await idsWith(store, 'cus_1', 'customer'), ['paid', 'paid'])
    },
  },
  {
    name: 'an import keeps the references',
    needs: ['imports'],
    async run({ open }) {
      const store = await open()
      const at = Date.now() - DAY_MS
      const imported = {
        source: SOURCE,
        type: 't',
        receivedAt: at,
        processedAt: at,
        reason: null,
        payload: null,
      }
      const references = [invoice('in_1'), customer('cus_1')]
      await store.imports.add([
        { ...imported, id: 'old', state: 'succeeded', reference: 'in_1', references },
        { ...imported, id: 'bare', state: 'succeeded', reference: null },
      ])
      assert.deepEqual(await referencesOf(store, 'old'), references)
      assert.deepEqual(await idsWith(store, 'cus_1'), ['old'])
    },
  },
  {
    name: 'retention removes the references with their event',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      const receivedAt = Date.now() - 40 * DAY_MS
      await store.record([{ ...plain, receivedAt }])
      await attempt(store, key('paid'), succeeded)
      await store.retention.prune({ source: SOURCE, limit: 100, payloadsBefore: Date.now() })
      assert.deepEqual(await idsWith(store, 'cus_1'), ['paid'], 'they stay when only the payload is removed')
      await store.retention.prune({ source: SOURCE, limit: 100, eventsBefore: Date.now() })
      await record(store, delivery(event('paid')))
      assert.deepEqual(await idsWith(store, 'cus_1'), [])
      assert.deepEqual(await referencesOf(store, 'paid'), [])
    },
  },
  {
    name: 'an erasure goes by any reference, or by those of one label, and removes the references of what it erased',
    needs: ['archive', 'inspect'],
    async run({ open }) {
      const store = await open()
      await store.record([
        plain,
        delivery(about('customer 7', [customer('7')])),
        delivery(about('order 7', [labelled('order', '7'), customer('8')])),
      ])
      const none = { payloads: 0, events: 0, busy: 0, archived: [], more: false }
      const one = { ...none, payloads: 1, events: 1 }
      assert.deepEqual(await erase(store, 'cus_1', { label: 'invoice' }), none)
      assert.deepEqual(await erase(store, 'cus_1', { dryRun: true }), one)
      assert.deepEqual(await erase(store, 'cus_1'), one)
      assert.deepEqual(await referencesOf(store, 'paid'), [invoice('in_1')], 'its own one stays')
      assert.equal((await get(store, key('paid'))).payload, 'erased')
      assert.deepEqual(await erase(store, '7', { label: 'customer' }), one)
      assert.equal((await get(store, key('order 7'))).payload, 'kept')
      assert.deepEqual(await erase(store, '8', { source: 'crm' }), none)
      assert.deepEqual(await erase(store, '8', { label: 'customer', source: SOURCE }), one)
    },
  },
  {
    name: 'an erasure finds other content that is kept beside an event, and such content does not come back',
    needs: ['archive', 'inspect'],
    async run({ open }) {
      const store = await open()
      await store.record([plain])
      const other = delivery(about('paid', [customer('cus_2')], { contentHash: sha256('other') }))
      await record(store, other)
      assert.equal((await erase(store, 'cus_2')).events, 1)
      assert.equal(await store.inspect.conflict(key('paid')), null)
      await record(store, delivery(about('paid', [customer('cus_3')], { contentHash: sha256('third') })))
      assert.deepEqual(await idsWith(store, 'cus_3'), [])
    },
  },
  {
    name: 'an erasure removes the errors of handlers and the results of effects, which may quote the payload',
    needs: ['archive', 'inspect', 'keys'],
    async run({ open }) {
      const store = await open()
      await store.record([plain, delivery(about('dead', [customer('cus_1')])), delivery(event('other'))])
      await attempt(store, key('dead'), dead)
      await attempt(store, key('other'), dead)
      const effect = { lease: (await claimEvent(store, key('paid'))).lease, name: 'mail' }
      await store.keys.effect({ step: 'start', ...effect })
      await store.keys.effect({ step: 'finish', ...effect, result: '"to Ann"' })
      assert.deepEqual(await store.settle([settlement(effect.lease, failedFor(0))]), [true])
      assert.equal((await erase(store, 'cus_1')).events, 2)
      const details = async (id: string) =>
        (await store.inspect.attempts(key(id))).map(({ detail }) => detail)
      assert.deepEqual([await details('paid'), await details('dead')], [[null], [null]])
      assert.equal((await get(store, key('dead'))).reason, null)
      assert.deepEqual(await details('other'), ['out of tries'])
      const { lease } = await claimEvent(store, key('paid'))
      const again = await store.keys.effect({ step: 'start', lease, name: 'mail' })
      assert.deepEqual(again, { state: 'finished', result: 'null' }, 'the effect is not repeated')
    },
  },
  {
    name: 'an erasure waits for an unfinished event about somebody else, and not for one about the same person',
    needs: ['archive', 'inspect'],
    async run({ open }) {
      const store = await open()
      const [mine, another, nobody] = [
        about('mine', [invoice('in_1'), customer('cus_1')]),
        about('another', [invoice('in_2'), customer('cus_2')]),
        event('nobody'),
      ]
      await store.record([
        delivery([mine, about('mine too', [customer('cus_1')])]),
        delivery([another, nobody]),
      ])
      assert.deepEqual(await erase(store, 'cus_1'), {
        ...{ payloads: 1, events: 2, busy: 0, archived: [], more: false },
      })
      assert.equal((await erase(store, 'cus_2')).busy, 1, 'the event about nobody waits')
      await attempt(store, key('nobody'), succeeded)
      assert.equal((await erase(store, 'cus_2')).events, 2)
    },
  },
  {
    name: 'an erasure names the archived objects that still hold what it erased',
    needs: ['archive'],
    async run({ open }) {
      const store = await open()
      const receivedAt = Date.now() - 10 * DAY_MS
      const day = new Date(receivedAt).toISOString().slice(0, 10)
      await store.record([
        { ...plain, receivedAt },
        delivery(about('other', [customer('cus_2')]), { receivedAt }),
      ])
      const { deliveries } = await store.archive.export({
        ...{ source: SOURCE, from: 0, to: Date.now(), after: 0, limit: 100 },
      })
      assert.deepEqual(
        deliveries.map(({ events }) => events[0]!.references),
        [[invoice('in_1'), customer('cus_1')], [customer('cus_2')]],
      )
      const receipt = (object: number, seq: number) => ({
        ...{ source: SOURCE, day, object, seqs: [seq], sha256: String(object).repeat(64) },
      })
      await store.archive.archived(deliveries.map(({ seq }, i) => receipt(i + 1, seq)))
      const archived = [{ source: SOURCE, day, object: 2 }]
      assert.deepEqual((await erase(store, 'cus_2', { dryRun: true })).archived, archived)
      assert.deepEqual((await erase(store, 'cus_2')).archived, archived)
    },
  },
]
