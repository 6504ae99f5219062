/** Who wants to be woken, as the event loop sees it: the reader thread watches only while there is somebody. */
export interface Subscribers {
  add(wake: () => void): Promise<() => Promise<void>>
  wakeAll(): void
  clear(): void
}

export function subscribers(watch: (on: boolean) => Promise<void>): Subscribers {
  const wakes = new Set<{ readonly wake: () => void }>()

  return {
    async add(wake) {
      // An entry of its own: the same function may be given twice.
      const entry = { wake }
      wakes.add(entry)
      try {
        await watch(true)
      } catch (error) {
        wakes.delete(entry)
        throw error
      }
      return async () => {
        if (wakes.delete(entry) && wakes.size === 0) await watch(false)
      }
    },
    wakeAll() {
      for (const { wake } of wakes) wake()
    },
    clear: () => wakes.clear(),
  }
}
