/** Handlers that hang, and processes that have not all the same handlers. */
import type { Fault } from './faults.js'
import { handled, probeId, recorded, sendUntil } from './probes.js'
import type { World } from './world.js'

/** More than all workers have places and room in their buffers for. */
const HANGING = 100

export const handlerFaults: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'a handler hangs beside healthy ones',
    async run(world) {
      world.set('hang', true)
      try {
        await sendAll(world, HANGING, 'hang')
        const healthy = await sendAll(world, 10, 'once')
        await handled(world, healthy, 'while another handler hangs')
      } finally {
        world.set('hang', false)
      }
    },
  },
  {
    name: 'a rolling deploy that adds a handler',
    async run(world) {
      const workers = world.nodes.filter(({ role }) => role === 'worker')
      const old = workers.slice(0, Math.ceil(workers.length / 2))
      await Promise.all(old.map((node) => node.restart('SIGTERM', { handlesLate: false })))
      const late = await sendAll(world, 40, 'late')
      for (const node of old) await node.restart('SIGTERM', { handlesLate: true })
      await handled(world, late, 'after a deploy that added their handler')
    },
  },
]

async function sendAll(world: World, count: number, type: string): Promise<string[]> {
  const ids = Array.from({ length: count }, probeId)
  await Promise.all(ids.map((id) => sendUntil(world, id, type, recorded)))
  return ids
}
