/**
 * Many small writes as few large ones, with no timer: what is asked for while a write is under way goes into the next.
 * (Group commit in `intake/record.ts` is the same idea with bounds on what senders may queue.)
 */
export function gather<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxBatch = 500, maxUnderWay = 1 } = {},
): (item: Item) => Promise<Result> {
  interface Waiter {
    readonly item: Item
    readonly resolve: (result: Result) => void
    readonly reject: (error: unknown) => void
  }
  const waiting: Waiter[] = []
  let underWay = 0
  let scheduled = false

  function next(): void {
    scheduled = false
    while (waiting.length > 0 && underWay < maxUnderWay) void writeBatch(waiting.splice(0, maxBatch))
  }

  async function writeBatch(batch: Waiter[]): Promise<void> {
    underWay++
    try {
      const results = await write(batch.map((waiter) => waiter.item))
      batch.forEach((waiter, i) => {
        waiter.resolve(results[i]!)
      })
    } catch (error) {
      for (const waiter of batch) waiter.reject(error)
    } finally {
      underWay--
      next()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (scheduled || underWay >= maxUnderWay) return
      scheduled = true
      setImmediate(next)
    })
}
