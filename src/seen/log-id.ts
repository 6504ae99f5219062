/** Which log this is: a random id kept in the log itself, read once. While it is not known, `seen` is not asked. */
export interface LogId {
  /** Null while it is not known. */
  current(): string | null
  /** Resolves when it was read, or could not be. */
  ready(): Promise<void>
}

const AGAIN_MS = 1_000

export function createLogId(read: () => Promise<string>): LogId {
  let id: string | null = null
  let reading: Promise<void> | null = null
  let notBefore = 0

  function ready(): Promise<void> {
    reading ??= read()
      .then(
        (found) => {
          id = found
        },
        () => {
          notBefore = performance.now() + AGAIN_MS
        },
      )
      .finally(() => {
        reading = null
      })
    return reading
  }

  return {
    ready,
    current() {
      if (id === null && reading === null && performance.now() >= notBefore) void ready()
      return id
    },
  }
}
