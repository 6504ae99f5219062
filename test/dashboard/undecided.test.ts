/** What a person says about effects whose end is unknown, before it is sent. */
import { describe, expect, test } from 'vitest'
import type { EventView } from '../../dashboard/src/api/client'
import {
  type EffectAnswer,
  effectsOf,
  problemOf,
  undecidedOf,
} from '../../dashboard/src/screens/event/undecided'
import { at, eventWith } from './support'

const begun = { name: 'charge', state: 'started', startedAt: at(1), finishedAt: null } as const
const finished = { name: 'mail', state: 'finished', startedAt: at(1), finishedAt: at(2) } as const

test.each<[state: EventView['state'], names: string[]]>([
  ['failed', ['charge']],
  ['ignored', ['charge']],
  ['pending', []],
  ['processing', []],
  ['succeeded', []],
])('of an event that is %s, undecided are %j', (state, names) => {
  const found = undecidedOf(eventWith({ state }), [begun, finished])
  expect(found.map(({ name }) => name)).toEqual(names)
})

const not: EffectAnswer = { happened: false, result: '{ an unfinished text of before' }
const happened = (result: string): EffectAnswer => ({ happened: true, result })

test.each<[result: string, problem: RegExp | null]>([
  ['{"id":"ch_1"}', null],
  [' true\n', null],
  ['"ch_1"', null],
  ['0', null],
  ['', /Write its result/],
  ['  ', /Write its result/],
  ['ch_1', /a text has quotes/],
  ['{"id":', /not JSON/],
  [' null ', /it did not happen/],
])('the result %j', (result, problem) => {
  const said = problemOf(happened(result))
  if (problem === null) expect(said).toBeNull()
  else expect(said).toMatch(problem)
  expect(effectsOf(new Map([['charge', happened(result)]])) === null).toBe(problem !== null)
})

describe('the answers', () => {
  test('are results, and null for what did not happen', () => {
    const answers = new Map([
      ['charge', happened('{"id":"ch_1"}')],
      ['__proto__', not],
    ])
    expect(JSON.stringify(effectsOf(answers))).toBe('{"charge":{"id":"ch_1"},"__proto__":null}')
  })

  test('are not sent while there is none, or one of them is wrong', () => {
    expect(effectsOf(new Map())).toBeNull()
    expect(
      effectsOf(
        new Map([
          ['a', not],
          ['b', happened('')],
        ]),
      ),
    ).toBeNull()
  })
})
