/** The log of the simulation is a store like the others: it passes their contract. */
import { storeContractFor } from 'hookonce/testing/contracts'
import { describe, test } from 'vitest'
import { MemoryLog, type MemoryTx } from './memory-log.js'

describe('the store contract on a log in memory', () => {
  const newLog = () => new MemoryLog({ now: Date.now, random: Math.random })
  for (const { name, run, skip } of storeContractFor(newLog().open())) {
    test.runIf(skip === undefined)(name, async () => {
      let offsetMs = 0
      const log = new MemoryLog({ now: () => Date.now() + offsetMs, random: Math.random })
      await run({
        async open({ migrate = true } = {}) {
          const store = log.open()
          if (migrate) await store.migrate()
          return store
        },
        async advance(ms) {
          offsetMs += ms
        },
        insertEffect: (tx, value) => (tx as MemoryTx).insert(value),
        countEffects: async (value) => log.effects.filter(({ event }) => event === value).length,
      })
    })
  }
})
