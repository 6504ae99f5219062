import { HookonceError } from 'hookonce'
import type { NewDelivery, RecordVerdict } from 'hookonce/testing/contracts'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { groupCommit } from '#dist/intake/group-commit.js'
import type { Recording } from '#dist/recorder.js'

const delivery = (id: string, bytes = 10): NewDelivery => ({
  source: 's',
  headers: {},
  body: new Uint8Array(bytes),
  events: [{ id: id, type: 't', reference: null, contentHash: null, guardHash: null }],
  contentGuard: 'review',
})

/** A store whose commits end when the test says so. */
function heldStore() {
  const batches: { ids: string[]; commit(): void; fail(error: Error): void }[] = []
  return {
    batches,
    record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
      return new Promise((resolve, reject) => {
        batches.push({
          ids: deliveries.map((d) => d.events[0]!.id),
          commit: () => resolve(deliveries.map((_, i) => [{ status: 'recorded', seq: i, state: 'pending' }])),
          fail: reject,
        })
      })
    },
  }
}

/** Timers that end when the test says so. A turn of the event loop stays one. */
const virtualTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
afterEach(() => void vi.useRealTimers())

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('group commit', () => {
  test('puts what arrives while two commits are under way into the next one', async () => {
    const store = heldStore()
    const commits = groupCommit(store)
    const answered: string[] = []
    const send = (id: string) => commits.record(delivery(id)).then(() => answered.push(id))
    send('a')
    await turn()
    send('b')
    await turn()
    for (const id of ['c', 'd', 'e']) send(id)
    await turn()
    expect(store.batches.map((batch) => batch.ids)).toEqual([['a'], ['b']])
    store.batches[0]!.commit()
    await turn()
    expect(store.batches.map((batch) => batch.ids)).toEqual([['a'], ['b'], ['c', 'd', 'e']])
    expect(answered).toEqual(['a'])
    store.batches[2]!.commit()
    await turn()
    expect(answered).toEqual(['a', 'c', 'd', 'e'])
    store.batches[1]!.commit()
    await commits.idle()
    await turn()
    expect(answered.sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('answers nothing before its commit has ended', async () => {
    const store = heldStore()
    const commits = groupCommit(store)
    let answered = false
    void commits.record(delivery('a')).then(() => {
      answered = true
    })
    for (let i = 0; i < 20; i++) await turn()
    expect(answered).toBe(false)
    store.batches[0]!.commit()
    await turn()
    expect(answered).toBe(true)
  })

  test('fails only the deliveries of the commit that failed', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxUnderWay: 1 })
    const first = commits.record(delivery('a'))
    await turn()
    const second = commits.record(delivery('b'))
    store.batches[0]!.fail(new Error('down'))
    await expect(first).rejects.toThrow('down')
    await turn()
    store.batches[1]!.commit()
    await expect(second).resolves.toHaveLength(1)
  })

  test('bounds a commit in number and in bytes', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxBatch: 3, maxBatchBytes: 100, maxUnderWay: 10 })
    for (let i = 0; i < 7; i++) void commits.record(delivery(`n${i}`))
    for (const id of ['x', 'y', 'z']) void commits.record(delivery(id, 60))
    void commits.record(delivery('huge', 1_000))
    await turn()
    expect(store.batches.map((batch) => batch.ids)).toEqual([
      ['n0', 'n1', 'n2'],
      ['n3', 'n4', 'n5'],
      ['n6', 'x'],
      ['y'],
      ['z'],
      ['huge'],
    ])
  })

  test('refuses with STORE_BUSY what would make the queue longer or larger than its bounds', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxUnderWay: 1, maxWaiting: 2, maxWaitingBytes: 100 })
    const accepted = [commits.record(delivery('a'))]
    await turn()
    accepted.push(commits.record(delivery('b', 60)))
    await expect(commits.record(delivery('large', 60))).rejects.toMatchObject({
      code: 'STORE_BUSY',
      httpStatus: 503,
    })
    accepted.push(commits.record(delivery('c')))
    await expect(commits.record(delivery('d'))).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(commits.waiting).toBe(2)
    store.batches[0]!.commit()
    await turn()
    store.batches[1]!.commit()
    await expect(Promise.all(accepted)).resolves.toHaveLength(3)
  })

  test('fails the deliveries that wait longer than the time limit, in order, and no others', async () => {
    virtualTime()
    const store = heldStore()
    const commits = groupCommit(store, { maxUnderWay: 1, withinMs: 50 })
    const ended: string[] = []
    const send = (id: string) =>
      commits.record(delivery(id)).then(
        () => ended.push(`${id} recorded`),
        (error: { code: string }) => ended.push(`${id} ${error.code}`),
      )
    const first = [send('a')]
    await turn()
    first.push(send('b'), send('c'))
    vi.advanceTimersByTime(50)
    await Promise.all(first)
    expect(ended).toEqual(['a STORE_UNAVAILABLE', 'b STORE_UNAVAILABLE', 'c STORE_UNAVAILABLE'])
    expect(commits.waiting).toBe(0)
    // The commit that was too slow ends, and the next delivery has the whole time again.
    store.batches[0]!.commit()
    await turn()
    const next = send('d')
    await turn()
    store.batches[1]!.commit()
    await next
    expect(ended.at(-1)).toBe('d recorded')
    expect(store.batches.map((batch) => batch.ids)).toEqual([['a'], ['d']])
  })

  test('has no more commits under way than allowed, also when one ends with several batches waiting', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxBatch: 1, maxUnderWay: 2 })
    const all = ['a', 'b', 'c', 'd', 'e'].map((id) => commits.record(delivery(id)))
    await turn()
    await turn()
    expect(store.batches.map((batch) => batch.ids)).toEqual([['a'], ['b']])
    for (const [i, begun] of [3, 4, 5, 5, 5].entries()) {
      store.batches[i]!.commit()
      await turn()
      expect(store.batches).toHaveLength(begun)
    }
    await expect(Promise.all(all)).resolves.toHaveLength(5)
  })

  test('fills its limits exactly, and an empty queue takes a delivery of any size', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxBatchBytes: 100, maxUnderWay: 1, maxWaitingBytes: 100 })
    void commits.record(delivery('huge', 1_000))
    await turn()
    for (const id of ['a', 'b']) void commits.record(delivery(id, 50))
    await expect(commits.record(delivery('c', 1))).rejects.toMatchObject({ code: 'STORE_BUSY' })
    store.batches[0]!.commit()
    await turn()
    expect(store.batches.map((batch) => batch.ids)).toEqual([['huge'], ['a', 'b']])
  })

  test('has room again for the bytes of deliveries that were committed or ran out of time', async () => {
    virtualTime()
    const store = heldStore()
    const commits = groupCommit(store, { maxUnderWay: 1, maxWaitingBytes: 100, withinMs: 50 })
    const first = commits.record(delivery('a', 100)).catch(() => 'late')
    await turn()
    const waits = [commits.record(delivery('b', 50)), commits.record(delivery('c', 50))]
    vi.advanceTimersByTime(50)
    await expect(Promise.allSettled(waits)).resolves.toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ])
    await first
    const again = [commits.record(delivery('d', 50)), commits.record(delivery('e', 50))]
    expect(commits.waiting).toBe(2)
    store.batches[0]!.commit()
    await turn()
    store.batches[1]!.commit()
    await expect(Promise.all(again)).resolves.toHaveLength(2)
  })

  test('keeps those that wait when a delivery of the commit under way runs out of time', async () => {
    virtualTime()
    const store = heldStore()
    const commits = groupCommit(store, { maxUnderWay: 1, withinMs: 200 })
    const late = commits.record(delivery('a'))
    await turn()
    vi.advanceTimersByTime(150)
    const next = commits.record(delivery('b'))
    vi.advanceTimersByTime(50)
    await expect(late).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(commits.waiting).toBe(1)
    store.batches[0]!.commit()
    await turn()
    store.batches[1]!.commit()
    await expect(next).resolves.toHaveLength(1)
  })

  test('gives each delivery of a commit its own result, and counts only those that were recorded', async () => {
    const full = new HookonceError('SPOOL_FULL', { maxBytes: 1 })
    const recorded: RecordVerdict[] = [{ status: 'recorded', seq: 1, state: 'pending' }]
    const results: Recording[][] = [[recorded, 'spooled', full, recorded] as never, ['spooled']]
    const counted: number[] = []
    const commits = groupCommit(
      { record: async () => results.shift()! },
      { onCommit: (deliveries, ms) => counted.push(deliveries, Math.sign(Math.floor(ms / 60_000))) },
    )
    const all = ['a', 'b', 'c', 'd'].map((id) => commits.record(delivery(id)))
    await expect(Promise.allSettled(all)).resolves.toEqual([
      { status: 'fulfilled', value: recorded },
      { status: 'fulfilled', value: 'spooled' },
      { status: 'rejected', reason: full },
      { status: 'fulfilled', value: recorded },
    ])
    await expect(commits.record(delivery('e'))).resolves.toBe('spooled')
    expect(counted).toEqual([2, 0])
  })

  test('is drained when nothing waits and nothing is under way, and not before', async () => {
    const store = heldStore()
    const commits = groupCommit(store, { maxBatch: 1, maxUnderWay: 2 })
    await commits.idle()
    for (const id of ['a', 'b', 'c']) void commits.record(delivery(id))
    let drained = 0
    const ask = () => void commits.idle().then(() => drained++)
    ask() // none is under way yet
    await turn()
    ask()
    for (const i of [0, 1, 2]) {
      expect(drained).toBe(0)
      store.batches[i]!.commit()
      await turn()
      if (i < 2) ask() // the last time, none waits any more
    }
    await turn()
    expect(drained).toBe(4)
  })
})
