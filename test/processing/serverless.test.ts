import { expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { onLog, until } from '../support/processing.js'
import { afterwards } from '../support/serving.js'

onLog('PostgreSQL', (bench) => {
  test.each(['at once', 'before the effect', 'after the effect'])(
    'a function killed after its answer, %s, has its effect once: the sweep handles the rest',
    async (moment) => {
      const hold = moment === 'at once' ? 'before the effect' : moment
      const killed = start(bench.log.insertEffect, bench.log.args, hold)
      expect(await deliver(killed, 'e1')).toBe(200)
      if (moment !== 'at once') await killed.said(2)
      await killed.kill()

      const { inbox } = bench.inbox({ processing: { lease: 1_000 } })
      inbox.on('shop', '*', async (event, ctx) => bench.write(ctx.tx, event.id))
      await until(async () => {
        await inbox.drain() // as the scheduler of the platform calls it
        return (await bench.log.effects()).length > 0
      }, 'the sweep has handled it')
      const next = start(bench.log.insertEffect, bench.log.args, '')
      expect(await deliver(next, 'e1')).toBe(200)
      expect(await deliver(next, 'e2')).toBe(200)
      await until(
        async () => (await bench.log.effects()).length === 2,
        'the next one is handled in waitUntil',
      )
      await inbox.drain()
      expect((await bench.log.effects()).sort()).toEqual(['e1', 'e2'])
      const { events } = await inbox.events.list()
      expect(events.map(({ id, state }) => `${id} ${state}`)).toEqual(['e2 succeeded', 'e1 succeeded'])
    },
  )
})

function start(insert: string, where: readonly string[], hold: string): Child {
  const child = startChild('./function-child.mjs', [hold, insert, ...where])
  afterwards(() => child.kill())
  return child
}

async function deliver(child: Child, id: string): Promise<number> {
  await child.said(1)
  const body = JSON.stringify({ id, type: 'order.paid', ref: 'r' })
  return (await fetch(child.lines[0]!, { method: 'POST', body })).status
}
