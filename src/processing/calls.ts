/**
 * The calls a handler makes on `ctx`. Each promise handed out is watched: one that rejects and that nobody awaits fails
 * its attempt, and never reaches the process as an unhandled rejection, which would end it and every other attempt in it.
 */

export interface Calls {
  /** The same promise, watched. */
  watch<T>(call: Promise<T>): Promise<T>
  /** Resolves when every call has ended; rejects with the error of one that nobody awaited. */
  ended(): Promise<void>
  /** The attempt is over: what nobody awaited is reported from now on. */
  close(): void
}

/** `report` is told of each error that nobody awaited. */
export function watchCalls(report: (error: unknown) => void): Calls {
  const running = new Set<Watched<unknown>>()
  const rejected = new Map<Watched<unknown>, unknown>()
  let closed = false

  /** The first error that nobody awaits; all of them are reported. */
  function unheard(): { readonly error: unknown } | null {
    let first: { readonly error: unknown } | null = null
    for (const [call, error] of rejected) {
      if (call.heard) continue
      report(error)
      first ??= { error }
    }
    rejected.clear()
    return first
  }

  return {
    watch<T>(call: Promise<T>): Promise<T> {
      const watched = new Watched<T>((resolve, reject) => void call.then(resolve, reject))
      running.add(watched)
      listen(
        watched,
        () => running.delete(watched),
        (error) => {
          running.delete(watched)
          rejected.set(watched, error)
          // Later than any `await` of it that stands in the same turn.
          if (closed) setImmediate(unheard)
        },
      )
      return watched
    },
    async ended() {
      while (running.size > 0) {
        await Promise.all(
          [...running].map((call) => new Promise<void>((end) => listen(call, end, () => end()))),
        )
      }
      const found = unheard()
      if (found) throw found.error
    },
    close() {
      closed = true
      unheard()
    },
  }
}

/** A promise that knows whether anybody has asked for its result; `await` asks too, because it is no plain promise. */
class Watched<T> extends Promise<T> {
  heard = false

  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.heard = true
    return super.then(onFulfilled, onRejected)
  }
}

/** Without being counted as somebody who asks. */
function listen<T>(call: Watched<T>, onEnd: () => void, onError: (error: unknown) => void): void {
  void Promise.prototype.then.call(call, onEnd, onError)
}
