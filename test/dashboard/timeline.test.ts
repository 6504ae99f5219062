/** Everything that happened to an event, in order of time. */
import { expect, test } from 'vitest'
import { timelineOf } from '../../dashboard/src/screens/event/timeline'
import { at, attemptWith, auditWith, conflictAt5, eventWith } from './support'

const received = 'Received, recorded, acknowledged'
type Story = [name: string, event: Parameters<typeof eventWith>[0], titles: string[]]

test.each<Story>([
  ['an event with one delivery', {}, [received]],
  ['one duplicate', { deliveries: 2, lastDeliveryAt: at(5) }, [received, 'Duplicate stopped']],
  ['two duplicates', { deliveries: 3, lastDeliveryAt: at(5) }, [received, 'Last of 2 duplicates stopped']],
  [
    'a conflict that is no duplicate',
    { deliveries: 2, conflicts: 1, lastDeliveryAt: at(5), lastConflict: conflictAt5(null) },
    [received, 'Delivered with other content'],
  ],
  [
    'a duplicate before a conflict',
    { deliveries: 3, conflicts: 1, lastDeliveryAt: at(4), lastConflict: conflictAt5(null) },
    [received, 'Duplicate stopped', 'Delivered with other content'],
  ],
  ['a next attempt', { state: 'failed', nextAttemptAt: at(60) }, [received, 'Next attempt']],
  [
    'no next attempt while it is paused',
    {
      state: 'failed',
      nextAttemptAt: at(60),
      waiting: { kind: 'paused', source: 'shop', type: null, actor: 'ada', sinceAt: at(1) },
    },
    [received],
  ],
  ['a time that is no attempt', { state: 'pending', nextAttemptAt: at(60) }, [received]],
])('%s', (_name, event, titles) => {
  expect(timelineOf(eventWith(event), [], []).map(({ title }) => title)).toEqual(titles)
})

test.each([
  ['succeeded', 'Attempt 1 succeeded', 'succeeded'],
  ['ignored', 'Attempt 1 ignored the event', 'ignored'],
  ['failed', 'Attempt 1 failed', 'retrying'],
  ['lost', 'Attempt 1 was lost: its worker ended or its lease expired', 'retrying'],
] as const)('an attempt that is %s', (outcome, title, tone) => {
  const [, attempt] = timelineOf(eventWith(), [attemptWith({ outcome })], [])
  expect(attempt).toEqual({ at: at(2), title, detail: '1.0 s on web-1', tone })
})

test('the end of the last attempt is when an event became a dead letter', () => {
  const attempts = [attemptWith({ outcome: 'failed' }), attemptWith({ attempt: 2, finishedAt: at(9) })]
  const dead = eventWith({ state: 'failed', dead: true })
  expect(timelineOf(dead, attempts, []).at(-1)).toMatchObject({ at: at(9), title: 'Became a dead letter' })
  expect(timelineOf({ ...dead, dead: false }, attempts, []).at(-1)?.title).toBe('Attempt 2 succeeded')
})

test('an attempt of a later run names the run', () => {
  const [, attempt] = timelineOf(eventWith(), [attemptWith({ run: 2 })], [])
  expect(attempt?.detail).toBe('1.0 s on web-1, run 2')
})

test.each([
  ['retry', '', 'Retried by ann', null],
  ['payload', 'ticket 7', 'Payload read by ann', 'ticket 7'],
  ['ignore conflict', '', 'First content kept by ann', null],
  ['unknown', 'a\u0007bell', 'unknown by ann', 'a\\u0007bell'],
])('the audit entry %s with the note %j', (verb, note, title, detail) => {
  const [, entry] = timelineOf(eventWith(), [], [auditWith({ verb, note })])
  expect(entry).toEqual({ at: at(3), title, detail, tone: 'processing' })
})

test('all of it is in order of time, and the next attempt is in the future', () => {
  const event = eventWith({
    state: 'failed',
    deliveries: 2,
    lastDeliveryAt: at(4),
    nextAttemptAt: at(60),
  })
  const attempts = [
    attemptWith({ outcome: 'failed' }),
    attemptWith({ attempt: 2, outcome: 'failed', startedAt: at(5), finishedAt: at(6) }),
  ]
  const moments = timelineOf(event, attempts, [auditWith({ at: at(3) })])
  expect(moments.map(({ title }) => title)).toEqual([
    received,
    'Attempt 1 failed',
    'Retried by ann',
    'Duplicate stopped',
    'Attempt 2 failed',
    'Next attempt',
  ])
  expect(moments.filter(({ future }) => future).map(({ title }) => title)).toEqual(['Next attempt'])
})

test('of two moments at the same time, the reception is the first', () => {
  const moments = timelineOf(eventWith(), [attemptWith({ startedAt: at(0), finishedAt: at(0) })], [])
  expect(moments.map(({ title }) => title)).toEqual([received, 'Attempt 1 succeeded'])
})
