/** Wake-ups: who listens hears soon that another has recorded something. Only a hint, but a prompt one. */
import assert from 'node:assert/strict'
import type { CaseHarness, ContractCase } from './harness.js'
import { openSeveral, recordOne } from './support.js'

const SOON_MS = 1_000

async function soon(what: string, happened: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + SOON_MS
  while (!happened()) {
    assert.ok(Date.now() < giveUpAt, `${what} within ${SOON_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Wakes that are still under way when a case goes on would be counted twice. */
const calm = () => new Promise((resolve) => setTimeout(resolve, 100))

function ifShared(run: (harness: CaseHarness) => Promise<void>): (harness: CaseHarness) => Promise<void> {
  return async (harness) => {
    if (harness.sharedBetweenProcesses !== false) await run(harness)
  }
}

export const subscribeCases: readonly ContractCase[] = [
  {
    name: 'an event recorded through another store on the log wakes who listens, each time',
    run: ifShared(async (harness) => {
      const [one, two] = await openSeveral(harness, 2)
      let woken = 0
      await recordOne(two!, 'before')
      const end = await one!.subscribe(() => woken++)
      for (const id of ['a', 'b', 'c']) {
        await calm()
        const before = woken
        await recordOne(two!, id)
        await soon(`woken by ${id}`, () => woken > before)
      }
      await end()
    }),
  },
  {
    name: 'all who listen are woken, and who has ended is not',
    run: ifShared(async (harness) => {
      const [one, two] = await openSeveral(harness, 2)
      const woken = [0, 0, 0]
      const ends = []
      for (const i of woken.keys()) ends.push(await one!.subscribe(() => woken[i]!++))
      await recordOne(two!, 'a')
      await soon('all are woken', () => woken.every((count) => count > 0))
      await ends[0]!()
      await ends[0]!()
      await calm()
      const [first, ...others] = woken
      await recordOne(two!, 'b')
      await soon('the others are woken', () => others.every((count, i) => woken[i + 1]! > count))
      assert.equal(woken[0], first)
      for (const end of ends) await end()
      const again = await one!.subscribe(() => woken[0]!++)
      await recordOne(two!, 'c')
      await soon('who listens again is woken', () => woken[0]! > first!)
      await again()
    }),
  },
  {
    name: 'closing a store ends its listening',
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      let woken = 0
      const end = await one.subscribe(() => woken++)
      await one.close()
      const before = woken
      await recordOne(two, 'a')
      await calm()
      assert.equal(woken, before)
      await end()
    },
  },
]
