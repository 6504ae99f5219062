/** A stop while handlers run: an event is released when its handler has ended, and not before. */
import type { CompleteStore } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { onBothLogs, post, postAll, signal, stateOf, until } from '../support/processing.js'

/** No test is as long: what is pending in the end was released. */
const processing = { lease: 600_000, poll: 50, concurrency: 1 }

onBothLogs((bench) => {
  test('a handler that ends soon after its signal is aborted has ended when its event is released', async () => {
    let running = 0
    const runningAtRelease: number[] = []
    const store: CompleteStore = bench.store()
    const watched: CompleteStore = {
      ...store,
      release(...given) {
        runningAtRelease.push(running)
        return store.release(...given)
      },
    }
    const { inbox } = bench.inbox({ store: watched, processing })
    const begun = signal()
    inbox.on('shop', '*', async (_event, ctx) => {
      running++
      const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      begun.give()
      await aborted
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      running--
    })
    await inbox.start()
    await post(inbox, { id: 'e1' })
    await begun.wait
    await inbox.stop({ deadline: 1 })
    expect(runningAtRelease).toEqual([0])
    expect(await stateOf(bench.inbox().inbox, 'e1')).toBe('pending')
  })

  test.each([
    ['within its time limit', {}, null],
    ['after its time limit', { timeout: 50 }, 'the handler still runs after its time limit'],
  ])(
    'a handler that ignores the stop %s keeps its lease: its event runs nowhere else',
    async (_, limit, line) => {
      const { inbox, lines } = bench.inbox({ processing })
      const begun = signal()
      const end = signal()
      inbox.on(
        'shop',
        '*',
        async () => {
          begun.give()
          await end.wait
        },
        limit,
      )
      await inbox.start()
      await post(inbox, { id: 'e1' })
      await begun.wait
      if (line)
        await until(() => lines.some(({ msg }) => String(msg).startsWith(line)), 'it is over its limit')
      await inbox.stop({ deadline: 1 })
      const { inbox: other } = bench.inbox()
      expect(await stateOf(other, 'e1')).toBe('processing')
      expect(lines).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          eventId: 'e1',
          msg: expect.stringMatching(/ignores the stop/),
        }),
      )
      end.give()
    },
  )

  test('of a group that shares a transaction, only the event whose handler ignores the stop keeps its lease', async () => {
    const { inbox } = bench.inbox({ processing })
    const begun = signal()
    const end = signal()
    inbox.on(
      'shop',
      '*',
      async (event) => {
        if (event.id !== 'hangs') return
        begun.give()
        await end.wait
      },
      { share: 10 },
    )
    await postAll(inbox, [{ id: 'e1' }, { id: 'hangs' }, { id: 'e2' }])
    await inbox.start()
    await begun.wait
    await inbox.stop({ deadline: 1 })
    const { inbox: other } = bench.inbox()
    const states = await Promise.all(['e1', 'hangs', 'e2'].map((id) => stateOf(other, id)))
    expect(states).toEqual(['pending', 'processing', 'pending'])
    end.give()
  })
})
