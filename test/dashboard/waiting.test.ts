/** What a row of the list says about why its event is not finished. */
import { expect, test } from 'vitest'
import { nextAttemptOf, type Waiting, waitingShort } from '../../dashboard/src/ui/waiting-words'
import { at } from './support'

const now = Date.parse(at(0))

test.each<[text: string | null, waiting: Waiting]>([
  ['paused by ada', { kind: 'paused', source: 'shop', type: null, actor: 'ada', sinceAt: at(0) }],
  ['behind in_\\u202e1', { kind: 'behind', id: 'in_\u202e1', dueAt: at(240) }],
  ['retry in 4 min', { kind: 'retry', dueAt: at(240) }],
  ['postponed, in 20 s', { kind: 'postponed', dueAt: at(20) }],
  ['destination fails', { kind: 'circuit', dueAt: at(20) }],
  ['all places taken', { kind: 'places', takenBy: [] }],
  ['no worker runs', { kind: 'no_worker' }],
  ['no handler runs', { kind: 'no_handler' }],
  [null, { kind: 'due' }],
  [null, { kind: 'running', worker: 'w', sinceAt: at(0) }],
  [null, { kind: 'review', sameAs: 'evt_0' }],
])('%s', (text, waiting) => {
  expect(waitingShort(waiting, now)).toBe(text)
})

test('the time at which a held event is looked at again is not called its next attempt', () => {
  const nextAttemptAt = at(60)
  expect(nextAttemptOf({ nextAttemptAt, waiting: null })).toBe(nextAttemptAt)
  expect(nextAttemptOf({ nextAttemptAt, waiting: { kind: 'retry', dueAt: nextAttemptAt } })).toBe(
    nextAttemptAt,
  )
  expect(nextAttemptOf({ nextAttemptAt, waiting: { kind: 'behind', id: 'a', dueAt: null } })).toBeNull()
})
