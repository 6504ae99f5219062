/**
 * Promises that a handler does not await and that reject. Node ends the process for one of them, and with it every other
 * attempt and the intake.
 *
 * A call on `ctx` is watched (`watchCalls`): if it rejects and is not awaited, its attempt fails. Any other promise of a
 * handler cannot be watched; a server logs its rejection and continues (`logRejections`), because the state of hookonce
 * is known after it. An uncaught exception still ends the process.
 */
import type { Logger } from '../log.js'
import type { EventKey } from '../model.js'
import { stackOf } from './error-text.js'

/** The calls that a handler makes on `ctx`. */
export interface Calls {
  /** Returns the same call, watched. */
  watch<T>(call: Promise<T>): Promise<T>
  /**
   * Resolves when every call has ended; null if there is nothing to wait for. Rejects with the error of a call that was not
   * awaited.
   */
  ended(): Promise<void> | null
  /** The attempt is over: later errors of calls that are not awaited are only reported. */
  close(): void
}

/** `report` gets each error of a call that was not awaited. */
export function watchCalls(report: (error: unknown) => void): Calls {
  const running = new Set<WatchedPromise<unknown>>()
  const rejected = new Map<WatchedPromise<unknown>, unknown>()
  let closed = false

  /** Reports the errors that were not awaited, and returns the first. */
  function reportUnawaited(): { readonly error: unknown } | null {
    let first: { readonly error: unknown } | null = null
    for (const [call, error] of rejected) {
      if (call.isAwaited) continue
      report(error)
      first ??= { error }
    }
    rejected.clear()
    return first
  }

  async function allEnded(): Promise<void> {
    while (running.size > 0) {
      await Promise.all(
        [...running].map((call) => new Promise<void>((end) => observe(call, end, () => end()))),
      )
    }
    const unawaited = reportUnawaited()
    if (unawaited) throw unawaited.error
  }

  return {
    watch<T>(call: Promise<T>): Promise<T> {
      const watched = new WatchedPromise<T>((resolve, reject) => void call.then(resolve, reject))
      running.add(watched)
      observe(
        watched,
        () => running.delete(watched),
        (error) => {
          running.delete(watched)
          rejected.set(watched, error)
          // Later than an `await` of it in the same turn of the event loop.
          if (closed) setImmediate(reportUnawaited)
        },
      )
      return watched
    },
    ended: () => (running.size === 0 && rejected.size === 0 ? null : allEnded()),
    close() {
      closed = true
      if (rejected.size > 0) reportUnawaited()
    },
  }
}

/** A promise that notes whether `then` was called. `await` calls it too, because this is a subclass of Promise. */
class WatchedPromise<T> extends Promise<T> {
  isAwaited = false

  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true
    return super.then(onFulfilled, onRejected)
  }
}

/** Like `then`, but the promise does not count as awaited. */
function observe<T>(call: WatchedPromise<T>, onEnd: () => void, onError: (error: unknown) => void): void {
  void Promise.prototype.then.call(call, onEnd, onError)
}

/** Groups of events whose handlers run now in this process. */
export const runningNow = new Set<readonly EventKey[]>()
const MAX_NAMED = 20

/** Logs unhandled rejections with the events whose handlers run; one of these handlers is the likely cause. */
export function logRejections(log: Logger): void {
  process.on('unhandledRejection', (reason) => {
    const names = [...runningNow]
      .flat()
      .slice(0, MAX_NAMED)
      .map(({ source, eventId }) => `${source}/${eventId}`)
    log.error(
      {
        step: 'handle',
        events: names.join(', ') || 'no handler is running: its attempt is over',
        // The place and not the message, because the message may quote the payload (I8).
        place: stackOf(reason).split('\n', 1)[0]?.trim() || undefined,
      },
      'a promise that was not awaited has rejected; await it in the handler, so that its attempt fails',
    )
  })
}
