/** Cases of the `pauses` capability: what operators have paused, for all processes of the log. */
import assert from 'node:assert/strict'
import type { CompleteStore, NewPause, News } from '../../store.js'
import { type ContractCase, openSeveral, rejects, SOURCE } from './support.js'

const ofSource: NewPause = { source: SOURCE, type: null, actor: 'ada', note: 'the database moves' }
const ofType: NewPause = { ...ofSource, type: 'order.*', actor: 'bob', note: '' }

const listed = async (store: CompleteStore) =>
  (await store.pauses.list()).map(({ source, type, actor }) => [source, type, actor])

export const pauseCases: readonly ContractCase[] = [
  {
    name: 'a pause has its actor, note and time, and stays after all stores were closed, until it is resumed',
    async run({ open }) {
      const store = await open()
      const before = await store.ping()
      assert.equal(await store.pauses.pause(ofSource), true)
      await store.close()
      const other = await open()
      const [found, ...more] = await other.pauses.list()
      assert.deepEqual([{ ...found, at: null }, more], [{ ...ofSource, at: null }, []])
      assert.ok(
        found!.at >= before - 1 && found!.at <= (await other.ping()) + 1,
        'its time is that of the log',
      )
      assert.equal(await other.pauses.resume(ofSource), true)
      assert.deepEqual(await other.pauses.list(), [])
    },
  },
  {
    name: 'what is paused already keeps its first pause, and a resume of what is not paused changes nothing',
    async run(harness) {
      const [store, other] = await openSeveral(harness, 2)
      await store!.pauses.pause(ofSource)
      assert.equal(await other!.pauses.pause({ ...ofSource, actor: 'bob' }), false)
      assert.equal(await other!.pauses.resume(ofType), false)
      assert.deepEqual(await listed(store!), [[SOURCE, null, 'ada']])
    },
  },
  {
    name: 'the pauses of a source, of its types and of its consumers are independent; `*` is the source',
    async run({ open }) {
      const store = await open()
      const ofMail = { ...ofSource, source: `${SOURCE}/mail` }
      for (const pause of [ofSource, ofType, ofMail]) assert.equal(await store.pauses.pause(pause), true)
      assert.equal(await store.pauses.pause({ ...ofSource, type: '*' }), false)
      assert.deepEqual(await listed(store), [
        [SOURCE, null, 'ada'],
        [SOURCE, 'order.*', 'bob'],
        [`${SOURCE}/mail`, null, 'ada'],
      ])
      assert.equal(await store.pauses.resume({ ...ofSource, type: '*' }), true)
      assert.deepEqual(await listed(store), [
        [SOURCE, 'order.*', 'bob'],
        [`${SOURCE}/mail`, null, 'ada'],
      ])
    },
  },
  {
    name: 'each change is audited with it, and what changes nothing is not',
    needs: ['audit'],
    async run({ open }) {
      const store = await open()
      await store.pauses.pause(ofType)
      await store.pauses.pause({ ...ofType, actor: 'cem' })
      await store.pauses.resume({ ...ofType, actor: 'cem', note: 'it is well' })
      await store.pauses.resume(ofType)
      await store.pauses.pause({ ...ofType, note: 'ä'.repeat(500) })
      const { audits } = await store.audit.list({})
      assert.deepEqual(
        audits.map(({ actor, verb, source, eventId, note }) => [actor, verb, source, eventId, note]),
        [
          ['bob', 'pause', SOURCE, null, `type order.*: ${'ä'.repeat(493)}`],
          ['cem', 'resume', SOURCE, null, 'type order.*: it is well'],
          ['bob', 'pause', SOURCE, null, 'type order.*'],
        ],
      )
    },
  },
  {
    name: 'a change through another store wakes a subscriber, and says that it is about pauses',
    async run({ open, sharedBetweenProcesses = true }) {
      if (!sharedBetweenProcesses) return
      const store = await open()
      const other = await open()
      let told: (() => void) | undefined
      const end = await store.subscribe((news: News) => {
        if (news === 'pauses') told?.()
      })
      for (const verb of ['pause', 'resume'] as const) {
        const woken = new Promise<void>((resolve) => {
          told = resolve
        })
        await other.pauses[verb](ofSource)
        await woken
      }
      await end()
    },
  },
  {
    name: 'malformed pauses are refused',
    async run({ open }) {
      const { pauses } = await open()
      await rejects(() => pauses.pause({ ...ofSource, source: '' }), 'INVALID_INPUT')
      await rejects(() => pauses.pause({ ...ofSource, type: '' }), 'INVALID_INPUT')
      await rejects(() => pauses.pause({ ...ofSource, type: 'a\nb' }), 'INVALID_INPUT')
      await rejects(() => pauses.resume({ ...ofSource, actor: '' }), 'INVALID_INPUT')
      await rejects(() => pauses.pause({ ...ofSource, note: 'x'.repeat(1_001) }), 'INVALID_INPUT')
      assert.deepEqual(await pauses.list(), [])
    },
  },
]
