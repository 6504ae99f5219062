/** Audits: who did what to the log, and why; written once, read newest first. */
import assert from 'node:assert/strict'
import type { Audit, AuditFilter, CompleteStore, NewAudit } from '../../store.js'
import {
  attempt,
  type ContractCase,
  dead,
  delivery,
  get,
  key,
  LONG_AFTER_MS,
  operate,
  pick,
  random,
  range,
  record,
  recordEvent,
  rejects,
} from './support.js'

function entry(more: Partial<NewAudit> = {}): NewAudit {
  return { actor: 'ada', verb: 'payload', source: 'shop', eventId: 'e1', note: 'asked to', ...more }
}

async function auditsAll(store: CompleteStore, filter: AuditFilter = {}, limit = 500): Promise<Audit[]> {
  const all: Audit[] = []
  let cursor: string | null = null
  do {
    const page = await store.audit.list(filter, { limit, cursor })
    assert.ok(page.audits.length <= limit, 'a page is no longer than asked')
    all.push(...page.audits)
    cursor = page.next
  } while (cursor !== null)
  return all
}

const reasons = (audits: readonly Audit[]) => audits.map((a) => a.note)

/** Entries of every kind, each with a different reason, in two halves at different times. */
async function fill(store: CompleteStore, advance: (ms: number) => Promise<void>): Promise<void> {
  const next = random(7)
  const entries = range(120).map((i) => {
    const source = pick(next, ['shop', 'crm', null])
    const eventId = source === null ? null : pick(next, ['e1', 'e2', null])
    const actor = pick(next, ['ada', 'bob'])
    return entry({
      actor,
      verb: pick(next, ['payload', 'erase', 'sign_in']),
      source,
      eventId,
      note: `${i}`,
    })
  })
  await store.audit.append(entries.slice(0, 60))
  await advance(LONG_AFTER_MS)
  await store.audit.append(entries.slice(60))
}

export const auditCases: readonly ContractCase[] = [
  {
    name: 'audits are stored unchanged, in the order of the call, with the time of the store',
    async run({ open }) {
      const store = await open()
      const entries = [
        entry(),
        entry({ source: null, eventId: null, verb: 'sign_in', note: '' }),
        entry({ eventId: null, verb: 'prune', note: 'two\nlines, "quoted" \\ and {braced}' }),
        entry({ actor: 'Ада "the first" \\', eventId: 'NULL', note: 'null' }),
      ]
      await store.audit.append(entries)
      await store.audit.append([])
      const found = await auditsAll(store)
      assert.deepEqual(
        found.map(({ id: _, at: __, ...rest }) => rest),
        [...entries].reverse(),
      )
      for (const { at } of found) assert.ok(Math.abs(at - Date.now()) < 60_000, 'the time is now')
      assert.deepEqual(
        found.map((a) => a.id),
        found.map((a) => a.id).sort((a, b) => b - a),
      )
    },
  },
  {
    name: "an operator's actions are among the audits of the event; refused actions and dry runs are not",
    async run({ open }) {
      const store = await open()
      const of = await recordEvent(store, 'e1')
      await recordEvent(store, 'e2')
      assert.ok((await operate(store, 'ignore', of, { note: 'first' })).done)
      assert.ok((await operate(store, 'retry', of, { actor: 'bob', note: 'second' })).done)
      await attempt(store, of, dead)
      assert.ok((await operate(store, 'replay', of, { dryRun: true })).done)
      assert.ok(!(await operate(store, 'ignore', key('missing'))).done)
      await store.audit.append([entry({ note: 'third' }), entry({ eventId: 'e2', note: 'of another' })])
      const found = await auditsAll(store, { source: 'shop', eventId: 'e1' })
      assert.deepEqual(
        found.map(({ actor, verb, note: reason }) => [actor, verb, reason]),
        [
          ['ada', 'payload', 'third'],
          ['bob', 'retry', 'second'],
          ['ada', 'ignore', 'first'],
        ],
      )
      assert.equal((await auditsAll(store)).length, 4)
    },
  },
  {
    name: 'every filter of audits, alone and with every other, finds the same as a filter in memory',
    async run({ open, advance }) {
      const store = await open()
      await fill(store, advance)
      const all = await auditsAll(store)
      assert.equal(all.length, 120)
      const middle = all[59]!.at
      const byKey: AuditFilter[][] = [
        [{ source: 'shop' }, { source: 'Shop' }],
        [{ eventId: 'e1' }, { eventId: 'e9' }],
        [{ actor: 'bob' }],
        [{ verb: 'erase' }],
        [{ from: middle }],
        [{ to: middle }, { to: middle + 1 }],
      ]
      let hits = 0
      for (const [i, filters] of byKey.entries()) {
        const others = [[{}], ...byKey.slice(i + 1)].flat()
        for (const filter of filters.flatMap((filter) => others.map((other) => ({ ...filter, ...other })))) {
          const expected = reasons(all.filter((a) => matches(filter, a)))
          assert.deepEqual(reasons(await auditsAll(store, filter)), expected, JSON.stringify(filter))
          assert.deepEqual(reasons(await auditsAll(store, filter, 3)), expected, JSON.stringify(filter))
          hits += expected.length
        }
      }
      assert.ok(hits > 200, 'the sample is rich enough to tell')
    },
  },
  {
    name: 'pages of audits of every size join to the whole, and the last page has no next one',
    async run({ open }) {
      const store = await open()
      await store.audit.append(range(23).map((i) => entry({ note: `${i}` })))
      const all = reasons(await auditsAll(store))
      for (const limit of [1, 2, 5, 22, 23, 24, 500]) {
        assert.deepEqual(reasons(await auditsAll(store, {}, limit)), all)
      }
      assert.equal((await store.audit.list({}, { limit: 23 })).next, null)
      assert.ok((await store.audit.list({}, { limit: 22 })).next)
      assert.deepEqual(await store.audit.list({ eventId: 'none' }), { audits: [], next: null })
    },
  },
  {
    name: 'paging through audits while others are written neither skips nor repeats an audit',
    async run({ open }) {
      const [reader, writer] = [await open(), await open()]
      await writer.audit.append(range(50).map((i) => entry({ note: `old ${i}` })))
      let cursor: string | null = null
      const seen: string[] = []
      do {
        const page = await reader.audit.list({}, { limit: 7, cursor })
        seen.push(...reasons(page.audits))
        cursor = page.next
        await writer.audit.append([entry({ note: 'new' })])
      } while (cursor !== null)
      assert.deepEqual(
        seen,
        range(50).map((i) => `old ${49 - i}`),
      )
    },
  },
  {
    name: 'a call with an invalid audit writes none of them, and invalid filters, limits and cursors are refused',
    async run({ open }) {
      const store = await open()
      const bad: Partial<NewAudit>[] = [
        { actor: '' },
        { actor: 'a\nb' },
        { actor: 'a'.repeat(256) },
        { verb: '' },
        { verb: 'v'.repeat(65) },
        { source: '' },
        { source: 'a\0b' },
        { eventId: '' },
        { eventId: '\ud800' },
        { source: null },
        { note: 'a\0b' },
        { note: 'r'.repeat(1_001) },
      ]
      for (const more of bad) await rejects(() => store.audit.append([entry(), entry(more)]), 'INVALID_INPUT')
      await rejects(() => store.audit.append(range(1_001).map(() => entry())), 'INVALID_INPUT')
      for (const filter of [{ source: '' }, { eventId: 'a\0' }, { actor: '' }, { verb: '' }, { from: -1 }]) {
        await rejects(() => store.audit.list(filter), 'INVALID_INPUT')
      }
      for (const limit of [0, 1.5, 501]) await rejects(() => store.audit.list({}, { limit }), 'INVALID_INPUT')
      for (const cursor of ['nonsense', '-1', "1' or 1=1"]) {
        await rejects(() => store.audit.list({}, { cursor }), 'INVALID_INPUT')
      }
      assert.deepEqual(await auditsAll(store), [])
    },
  },
  {
    name: 'an audit changes nothing about its event, and may name an event that is not in the log',
    async run({ open }) {
      const store = await open()
      await record(store, delivery('e1'))
      const before = await get(store, key('e1'))
      await store.audit.append([entry(), entry({ eventId: 'never seen' })])
      assert.deepEqual(await get(store, key('e1')), before)
      assert.equal(await store.get(key('never seen')), null)
    },
  },
]

function matches({ source, eventId, actor, verb, from, to }: AuditFilter, a: Audit): boolean {
  return (
    (source === undefined || a.source === source) &&
    (eventId === undefined || a.eventId === eventId) &&
    (actor === undefined || a.actor === actor) &&
    (verb === undefined || a.verb === verb) &&
    (from === undefined || a.at >= from) &&
    (to === undefined || a.at < to)
  )
}
