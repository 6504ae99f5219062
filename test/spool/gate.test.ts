/** The order in which deliveries go into the spool. */
import { silentLog } from 'hookonce'
import { expect, test } from 'vitest'
import { createCircuit, spoolGate } from '../../dist/spool/gate.js'
import { asDelivery, type SpoolRow } from '../../dist/spool/row.js'
import { delivery } from '../support/delivery.js'

test('a batch that goes straight to the spool does not overtake a batch that waits for the drain', async () => {
  const circuit = createCircuit(silentLog)
  const stored: string[] = []
  const file = {
    waiting: async () => [{ source: 'shop', depth: 600 }],
    async put(rows: readonly SpoolRow[]) {
      for (const row of rows) stored.push((await asDelivery(row, undefined)).events[0]!.eventId)
      return rows.map(() => true)
    },
  }
  const record = spoolGate({
    file: file as never,
    circuit,
    clock: { now: () => 1_700_000_000_000 },
    seal: undefined,
    maxBytes: 1e6,
    afterMs: 1_000,
    next: { record: () => Promise.reject(new Error('not reached')) } as never,
    spooled() {},
    wrote() {},
  })
  const first = record([delivery('a')]) // waits, because 600 deliveries are ahead of it
  await new Promise((resolve) => setTimeout(resolve, 5))
  circuit.trip(new Error('the store is away'))
  const second = record([delivery('b')])
  expect(await Promise.all([first, second])).toEqual([['spooled'], ['spooled']])
  expect(stored).toEqual(['a', 'b'])
})
