/** Handlers and sources share the places: one that hangs does not keep the events of the others waiting. */
import { expect, test } from 'vitest'
import { type Bench, ids, onLog, postAll, shop, signal, until } from '../support/processing.js'

/** No test is as long: nothing goes on because a handler that hangs has run out of time. */
const hangs = { timeout: 600_000 }

/** An inbox with the sources `shop` and `other`, and a signal that ends the handlers that hang. */
function twoSources(bench: Bench, processing: object = {}) {
  const { inbox } = bench.inbox({
    sources: { shop: shop(), other: shop() },
    processing: { poll: 200, concurrency: 16, ...processing },
  })
  const end = signal()
  const handled: string[] = []
  let hanging = 0
  return {
    inbox,
    end,
    handled,
    hanging: () => hanging,
    async hang() {
      hanging++
      await end.wait
      hanging--
    },
  }
}

const events = (count: number, prefix: string, type: string) =>
  ids(count, prefix).map((id) => ({ id, type, ref: id }))

onLog('PostgreSQL', (bench) => {
  test('a handler that hangs does not keep another source waiting', async () => {
    const { inbox, end, handled, hang, hanging } = twoSources(bench)
    inbox.on('shop', '*', hang, hangs)
    inbox.on('other', '*', (event) => void handled.push(event.id))
    await inbox.start()
    await postAll(inbox, events(100, 'hangs', 'a'))
    await until(() => hanging() === 16, 'the handler has all places while it is alone')
    await postAll(inbox, events(300, 'e', 'b'), 'other')
    await until(() => handled.length === 300, 'the other source is handled')
    end.give()
  })

  test('a handler that was quick and hangs does not keep another source waiting', async () => {
    const { inbox, end, handled, hang, hanging } = twoSources(bench)
    let quick = 0
    inbox.on('shop', '*', (event) => (event.type === 'quick' ? void quick++ : hang()), hangs)
    inbox.on('other', '*', (event) => void handled.push(event.id))
    await inbox.start()
    await postAll(inbox, events(500, 'quick', 'quick'))
    await until(() => quick === 500, 'it is quick')
    await postAll(inbox, events(1_000, 'hangs', 'a'))
    await until(() => hanging() >= 16, 'it hangs')
    await postAll(inbox, events(300, 'e', 'b'), 'other')
    await until(() => handled.length === 300, 'the other source is handled')
    end.give()
  })

  test('a handler that hangs does not keep a handler of the same source waiting behind its backlog', async () => {
    const { inbox, end, handled, hang, hanging } = twoSources(bench)
    inbox.on('shop', 'hangs', hang, hangs)
    inbox.on('shop', 'quick', (event) => void handled.push(event.id))
    await postAll(inbox, events(1_200, 'hangs', 'hangs'))
    await inbox.start()
    await until(() => hanging() === 16, 'the handler has all places')
    await postAll(inbox, events(50, 'e', 'quick'))
    await until(() => handled.length === 50, 'the other handler has its events')
    end.give()
  })

  test('two handlers that hang do not keep a third one waiting', async () => {
    const { inbox, end, handled, hang, hanging } = twoSources(bench)
    inbox.on('shop', 'first', hang, hangs)
    inbox.on('shop', 'second', hang, hangs)
    inbox.on('other', '*', (event) => void handled.push(event.id))
    await inbox.start()
    await postAll(inbox, events(100, 'first', 'first'))
    await until(() => hanging() === 16, 'the first one has all places')
    await postAll(inbox, events(100, 'second', 'second'))
    await until(() => hanging() === 24, 'the second one has half as many')
    await postAll(inbox, events(50, 'e', 'b'), 'other')
    await until(() => handled.length === 50, 'the third one has its events')
    end.give()
  })

  test('a handler that hangs keeps no more than its own limit, and the limit of another one holds beside it', async () => {
    const { inbox, end, handled, hang, hanging } = twoSources(bench)
    let running = 0
    let most = 0
    inbox.on('shop', 'hangs', hang, { ...hangs, limit: { concurrency: 3 } })
    inbox.on('shop', '*', hang, hangs)
    inbox.on(
      'other',
      '*',
      async (event) => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        handled.push(event.id)
      },
      { limit: { concurrency: 2 } },
    )
    await inbox.start()
    await postAll(inbox, events(40, 'limited', 'hangs'))
    await until(() => hanging() === 3, 'it has as many places as it may')
    await postAll(inbox, events(40, 'all', 'all'))
    await until(() => hanging() >= 16, 'all places are taken')
    await postAll(inbox, events(50, 'e', 'b'), 'other')
    await until(() => handled.length === 50, 'the other source is handled')
    expect(most).toBeLessThanOrEqual(2)
    end.give()
  })

  test('with one place no two handlers run at once, and they take turns', async () => {
    const { inbox } = twoSources(bench, { concurrency: 1 })
    const begun: string[] = []
    let running = 0
    let most = 0
    const handle = async ({ source }: { source: string }) => {
      most = Math.max(most, ++running)
      begun.push(source)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running--
    }
    inbox.on('shop', '*', handle)
    inbox.on('other', '*', handle)
    await postAll(inbox, events(60, 'a', 'a'))
    await postAll(inbox, events(5, 'b', 'b'), 'other')
    await inbox.start()
    await until(() => begun.length === 65, 'all are handled')
    expect(most).toBe(1)
    expect(begun.slice(0, 20).filter((source) => source === 'other')).toHaveLength(5)
  })
})
