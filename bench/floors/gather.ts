/** Group commit in its shortest form: items that arrive while a batch is under way form the next batch. */
export function gather<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: { readonly item: Item; resolve(): void; reject(error: unknown): void }[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    // One turn of the event loop, so that requests that were read together share the first batch too.
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await write(batch.map(({ item }) => item))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isRunning) void run()
    })
}
