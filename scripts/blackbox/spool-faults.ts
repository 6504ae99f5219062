/** Faults of the spool: an outage of the store with a full disk, and one delivery that the store cannot take. */
import { join } from 'node:path'
import type { Fault } from './faults.js'
import { handled, probeId, recorded, send, sendUntil } from './probes.js'
import type { World } from './world.js'

export const spoolFaults: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'the disk of the spool full in an outage',
    cannot: ({ disk }) => (disk === null ? 'a tmpfs cannot be mounted here' : null),
    async run(world) {
      const { disk, line } = world
      await withSpool(world, disk!.path)
      line!.cut('refuse')
      await sendUntil(world, probeId(), 'once', ['spooled'])
      disk!.fill()
      const unwritten = probeId()
      await sendUntil(world, unwritten, 'once', ['unavailable'])
      line!.join()
      // The disk is still full: the store takes deliveries without the spool.
      await sendUntil(world, unwritten, 'once', recorded)
      disk!.free()
      await handled(world, [unwritten], 'after the outage')
    },
  },
  {
    name: 'a spooled delivery that the store refuses',
    async run(world) {
      const { line, sql, folder } = world
      await withSpool(world, folder)
      line!.cut('refuse')
      const [poison, next] = [probeId(), probeId()]
      await sendUntil(world, poison, 'once', ['spooled'])
      await sendUntil(world, next, 'once', ['spooled'])
      await sql(
        `create function public.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
         create trigger refuse before insert on hookonce.events for each row when (new.event_id = '${poison}')
         execute function public.refuse()`,
      )
      line!.join()
      await handled(world, [next], 'behind a spooled delivery that the store refuses')
      // The first answer may be that of the spool.
      await sendUntil(world, probeId(), 'once', recorded)
      const answer = await send(world, poison, 'once')
      if (answer !== 'spooled' && answer !== 'unavailable')
        throw new Error(`the refused delivery is answered "${answer}"`)
      await sql('drop function public.refuse() cascade')
      await handled(world, [poison], 'when the store no longer refuses it')
    },
  },
]

async function withSpool({ nodes }: World, folder: string): Promise<void> {
  for (const node of nodes)
    if (node.role === 'intake') await node.restart('SIGTERM', { spool: join(folder, `${node.name}.spool`) })
}
