/** Effects of `ctx.once` whose end is unknown, and what a person says about them. */
import type { Body, EventView } from '../../api/client'
import { jsonProblem } from '../payload/bytes'

type Effect = Body<'listEffects'>['effects'][number]

/** While a handler may run, an effect is only under way. The server takes answers for events that can be retried. */
export function undecidedOf({ state }: EventView, effects: readonly Effect[]): readonly Effect[] {
  return state === 'failed' || state === 'ignored' ? effects.filter((one) => one.state === 'started') : []
}

export interface EffectAnswer {
  readonly happened: boolean
  /** What the person has typed. */
  readonly result: string
}
/** By the name of the effect. One without an answer stays undecided. */
export type EffectAnswers = ReadonlyMap<string, EffectAnswer>

/** Null: this answer can be sent. */
export function problemOf({ happened, result }: EffectAnswer): string | null {
  if (!happened) return null
  if (result.trim() === '') return 'Write its result.'
  const problem = jsonProblem(result)
  if (problem !== null) return `This is not JSON, in which a text has quotes. ${problem}`
  return JSON.parse(result) === null ? 'null means that it did not happen.' : null
}

/** As the API takes them: the result, or null for an effect that did not happen. Null when an answer is missing or wrong. */
export function effectsOf(answers: EffectAnswers): Readonly<Record<string, unknown>> | null {
  if (answers.size === 0 || [...answers.values()].some((answer) => problemOf(answer) !== null)) return null
  return Object.fromEntries(
    [...answers].map(([name, { happened, result }]) => [name, happened ? JSON.parse(result) : null]),
  )
}
