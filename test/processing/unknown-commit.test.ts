/** The answer to COMMIT is lost: the log is read before anything else happens to the event. */
import { HookonceError, type Store } from 'hookonce'
import { expect, test } from 'vitest'
import { onBothLogs, postAll, stateOf, until } from '../support/processing.js'

/** A store whose first `finish` throws COMMIT_UNKNOWN, after the commit or instead of it. */
function losingFirstAnswer(store: Store, committed: boolean): Store {
  let lost = false
  return {
    ...store,
    async transaction(options) {
      const transaction = await store.transaction(options)
      return {
        ...transaction,
        async finish(settlements) {
          if (lost) return transaction.finish(settlements)
          lost = true
          if (committed) await transaction.finish(settlements)
          else await transaction.rollback()
          throw new HookonceError('COMMIT_UNKNOWN', { problem: 'the connection broke' })
        },
      }
    },
  }
}

onBothLogs((bench) => {
  test.each([
    ['a commit whose answer was lost is found in the log: the handler does not run again', true, 1],
    ['a commit that never happened is not found in the log: the handler runs again', false, 2],
  ])('%s', async (_, committed, wanted) => {
    let calls = 0
    const { inbox, lines } = bench.inbox({ store: losingFirstAnswer(bench.store(), committed) })
    inbox.on('shop', '*', async (event, ctx) => {
      calls++
      await bench.write(ctx.tx, event.id)
    })
    await inbox.start()
    await postAll(inbox, [{ id: 'a' }])
    await until(async () => (await stateOf(inbox, 'a')) === 'succeeded', 'it succeeds')
    await inbox.stop()
    expect(calls).toBe(wanted)
    expect(await bench.log.effects()).toEqual(['a'])
    const attempts = await bench.store().inspect.attempts({ source: 'shop', id: 'a' })
    // The lost connection is no failure of the handler.
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['succeeded'])
    // Nobody is told that the outcome was discarded.
    expect(lines.filter(({ code }) => code === 'LEASE_LOST')).toEqual([])
  })
})
