/** Deliveries that a fault itself sends, to see whether the system still does its work. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world.js'

const LIMIT_MS = 60_000
/** The statuses of answers that promise a row in the log. */
export const recorded = ['accepted', 'already_received', 'already_processed']

export function probeId(): string {
  return `probe-${randomBytes(6).toString('hex')}`
}

/** Resolves with the status of the answer, such as `accepted`; or with `none`. */
export async function send({ nodes }: World, id: string, type: string, ref = id): Promise<string> {
  const { url } = nodes.find(({ role }) => role === 'intake')!
  try {
    const answer = await fetch(`${url}/webhooks/shop`, {
      method: 'POST',
      body: JSON.stringify({ id, type, ref }),
      signal: AbortSignal.timeout(10_000),
    })
    return ((await answer.json()) as { status: string }).status
  } catch {
    return 'none'
  }
}

/** Sends it until the answer has one of these statuses. */
export async function sendUntil(
  world: World,
  id: string,
  type: string,
  statuses: readonly string[],
  ref = id,
): Promise<void> {
  let status = ''
  await until(
    async () => {
      status = await send(world, id, type, ref)
      return statuses.includes(status)
    },
    () => `the answer to ${id} stays "${status}" instead of "${statuses.join('" or "')}"`,
  )
}

/** Resolves when each of them has its effect. */
export async function handled(world: World, ids: readonly string[], when: string): Promise<void> {
  let left = ids.length
  await until(
    async () => {
      const there = new Set((await world.effects()).map(({ event }) => event))
      left = ids.filter((id) => !there.has(id)).length
      return left === 0
    },
    () => `${left} of ${ids.length} events are not handled ${when}`,
  )
}

async function until(condition: () => Promise<boolean>, problem: () => string): Promise<void> {
  const giveUpAt = performance.now() + LIMIT_MS
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(problem())
    await sleep(100)
  }
}
