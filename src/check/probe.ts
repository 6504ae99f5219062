/**
 * Effects as the user counts them: a URL or a command that gives a number. Effects may come some time after the answer,
 * so a count is taken when it has stood still for a while.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { invalid } from '../errors.js'
import { parsed } from './change.js'
import { runCommand } from './command.js'
import { post } from './post.js'

/** Gives the number of effects; of this event where the probe can tell, else of all. */
export type Probe = (eventId: string) => Promise<number>

export interface Patience {
  /** How long a count must stand still to be believed. */
  readonly settleMs: number
  /** How long to wait for an effect that has to come. */
  readonly waitMs: number
}

/** `{id}` in the URL stands for the event id. */
export function urlProbe(template: string, timeoutMs: number): Probe {
  return async (eventId) => {
    const url = template.replaceAll('{id}', encodeURIComponent(eventId))
    const answer = await post(
      { method: 'GET', url, headers: { accept: 'application/json' }, body: new Uint8Array(0) },
      timeoutMs,
    )
    if (answer.status !== 200)
      throw invalid(
        'The probe',
        `answered ${answer.status ?? answer.problem}; it must answer 200 with a number`,
      )
    return countIn(answer.excerpt)
  }
}

/** The command gets the event id as HOOKONCE_EVENT_ID and prints the number. */
export function commandProbe(command: string, timeoutMs: number): Probe {
  return async (eventId) =>
    countIn(await runCommand(command, 'The probe command', { HOOKONCE_EVENT_ID: eventId }, timeoutMs))
}

/** A number, or JSON in which there is exactly one. */
export function countIn(text: string): number {
  const numbers = numbersIn(parsed(Buffer.from(text.trim())))
  const [count] = numbers
  if (numbers.length !== 1 || count === undefined || !Number.isSafeInteger(count) || count < 0)
    throw invalid('The probe', 'must return a whole number, or JSON with exactly one number in it')
  return count
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}

/** Counts the effects of one event from now on. */
export interface EffectCount {
  /** The count, once it has reached `atLeast` (or will not) and stood still. */
  settled(atLeast: number): Promise<number>
}

export async function countFrom(probe: Probe, eventId: string, patience: Patience): Promise<EffectCount> {
  const before = await probe(eventId)
  return {
    async settled(atLeast) {
      const startedAt = performance.now()
      let value = await probe(eventId)
      let since = performance.now()
      for (;;) {
        const now = performance.now()
        const still = now - since >= patience.settleMs
        if (still && (value - before >= atLeast || now - startedAt >= patience.waitMs)) return value - before
        await sleep(Math.min(50, patience.settleMs))
        const next = await probe(eventId)
        if (next !== value) since = performance.now()
        value = next
        // A count that never stands still (other traffic) is not waited for without end.
        if (performance.now() - startedAt > 2 * patience.waitMs + patience.settleMs) return value - before
      }
    },
  }
}
