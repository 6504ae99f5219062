/** The first sentence that somebody with a ticket reads about an event. */
import { expect, test } from 'vitest'
import type { EventView } from '../../dashboard/src/api/client'
import { verdictOf } from '../../dashboard/src/screens/event/verdict'
import { at, conflictAt5, eventWith } from './support'

const failed = { state: 'failed', reason: 'the ledger answered 503' } as const
const ignored = (reason: string | null) => ({ state: 'ignored', reason }) as const
const now = Date.parse(at(10))
const verdictWith = (change: Partial<EventView>, succeededTimes: number | null = null, undecided = 0) =>
  verdictOf(eventWith(change), succeededTimes, undecided, now)

test.each<[title: string, change: Partial<EventView>, succeededTimes?: number]>([
  ['Handled once.', {}],
  ['Handled once.', {}, 1],
  ['Handled once, on attempt 3.', { attempts: 3 }],
  ['Handled once.', { attempts: 3, run: 2 }],
  ['Handled 2 times: it was replayed by an operator.', { run: 2 }, 2],
  ['Being handled now, attempt 1.', { state: 'processing', attempts: 0 }],
  ['Being handled now, attempt 2.', { state: 'processing', attempts: 2 }],
  ['Recorded, waiting to be handled.', { state: 'pending', attempts: 0 }],
  ['Waiting to be handled again.', { state: 'pending', attempts: 1 }],
  ['Waiting to be handled again.', { state: 'pending', attempts: 0, run: 2 }],
  ['Failed once so far. The next attempt starts in 20 s.', { ...failed, nextAttemptAt: at(30) }],
  ['Failed 4 times so far. The next attempt is due now.', { ...failed, attempts: 4, nextAttemptAt: at(9) }],
  [
    'Failed once so far.',
    { ...failed, nextAttemptAt: at(3600), waiting: { kind: 'behind', id: 'evt_0', dueAt: at(30) } },
  ],
  ['Failed once and given up: a dead letter.', { ...failed, dead: true }],
  ['Failed 1,000 times and given up: a dead letter.', { ...failed, dead: true, attempts: 1_000 }],
  ['Not handled: no handler is registered for this type.', ignored('unhandled')],
  ['Not handled: its signed content is known under another id.', ignored('replayed_content')],
  ['Not handled: a newer event with the same reference was handled first.', ignored('stale')],
  ['Not handled: an operator ignored it.', ignored('operator')],
  ['Not handled: it was ignored.', ignored(null)],
  ['Ignored by the handler: a test\\u202eorder', ignored('a test\u202eorder')],
])('%s', (title, change, succeededTimes) => {
  expect(verdictWith(change, succeededTimes).title).toBe(title)
})

test.each<[tone: string, change: Partial<EventView>]>([
  ['succeeded', {}],
  ['retrying', failed],
  ['dead', { ...failed, dead: true }],
  ['ignored', ignored('stale')],
])('its tone is %s', (tone, change) => {
  expect(verdictWith(change).tone).toBe(tone)
})

const conflict = 'had other content under the same id; '
const [open, decided] = [conflictAt5(null), conflictAt5(at(6))]
const isOpen = `${conflict}nobody has decided about it yet.`

test.each<[rest: string[], change: Partial<EventView>]>([
  [['1 delivery, no duplicates.'], {}],
  [['2 deliveries, 1 duplicate stopped.'], { deliveries: 2 }],
  [['5 deliveries, 4 duplicates stopped.'], { deliveries: 5 }],
  [['2 deliveries.', `1 delivery ${isOpen}`], { deliveries: 2, conflicts: 1, lastConflict: open }],
  [
    ['2 deliveries.', `1 delivery ${conflict}this was decided.`],
    { deliveries: 2, conflicts: 1, lastConflict: decided },
  ],
  [
    ['5 deliveries, 2 duplicates stopped.', `2 deliveries ${isOpen}`],
    { deliveries: 5, conflicts: 2, lastConflict: open },
  ],
  [['1 delivery, no duplicates.', 'Its signed content is the same as that of evt_0.'], { sameAs: 'evt_0' }],
])('%j', (rest, change) => {
  expect(verdictWith(change).rest).toEqual(rest)
})

test.each<[name: string, todo: RegExp | null, change: Partial<EventView>, undecided?: number]>([
  ['a handled event', null, {}],
  ['an event that is retried', null, failed],
  ['a dead letter', /then retry it/, { ...failed, dead: true }],
  ['a dead letter with an undecided effect', /decide about it below/, { ...failed, dead: true }, 1],
  ['an event that is retried with an effect that was begun', null, failed, 1],
  ['an event without a handler', /Register a handler/, ignored('unhandled')],
  ['an event with known content', /Compare it with the first event/, ignored('replayed_content')],
  ['an event in conflict', /Compare the two contents/, { deliveries: 2, conflicts: 1, lastConflict: open }],
  ['a decided conflict', null, { deliveries: 2, conflicts: 1, lastConflict: decided }],
  ['an event that was ignored by a person', null, ignored('operator')],
  ['an event without a handler that was handled later', null, { reason: 'unhandled' }],
])('what to do about %s', (_name, todo, change, undecided) => {
  const said = verdictWith(change, null, undecided).todo
  if (todo === null) expect(said).toBeNull()
  else expect(said).toMatch(todo)
})
