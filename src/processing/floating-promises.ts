/**
 * Promises that a handler does not await and that reject. Node ends the process for one of them, and with it every other
 * attempt and the intake.
 *
 * A call on `ctx` is watched (`Calls`): if it rejects and is not awaited, its attempt fails. Any other promise of a
 * handler cannot be watched; a server logs its rejection and continues (`logRejections`), because the state of hookonce
 * is known after it. An uncaught exception still ends the process.
 */
import { codeOf } from '../errors.js'
import type { Logger } from '../log.js'
import type { EventKey } from '../model.js'
import { stackOf } from './error-text.js'

export class Calls {
  readonly #log: Logger
  readonly #events: readonly EventKey[]
  readonly #running = new Set<WatchedPromise<unknown>>()
  #rejected: { readonly call: WatchedPromise<unknown>; readonly error: unknown }[] = []
  #closed = false

  constructor(log: Logger, events: readonly EventKey[]) {
    this.#log = log
    this.#events = events
  }

  watch<T>(call: Promise<T>): Promise<T> {
    const watched = new WatchedPromise<T>((resolve, reject) => void call.then(resolve, reject))
    this.#running.add(watched)
    observe(
      watched,
      () => this.#running.delete(watched),
      (error) => {
        this.#running.delete(watched)
        this.#rejected.push({ call: watched, error })
        // Later than an `await` of it in the same turn of the event loop.
        if (this.#closed) setImmediate(() => this.#reportUnawaited())
      },
    )
    return watched
  }

  get isOpen(): boolean {
    return this.#running.size > 0 || this.#rejected.length > 0
  }

  /** Rejects with the error of a call that was not awaited. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) {
      await Promise.all(
        [...this.#running].map((call) => new Promise<void>((end) => observe(call, end, () => end()))),
      )
    }
    const unawaited = this.#reportUnawaited()
    if (unawaited) throw unawaited.error
  }

  /** The attempt is over: later errors of calls that are not awaited are only reported. */
  close(): void {
    this.#closed = true
    if (this.#rejected.length > 0) this.#reportUnawaited()
  }

  #reportUnawaited(): { readonly error: unknown } | null {
    const unawaited = this.#rejected.filter(({ call }) => !call.isAwaited)
    this.#rejected = []
    for (const { error } of unawaited) this.#report(error)
    return unawaited[0] ?? null
  }

  #report(error: unknown): void {
    const { source, id } = this.#events[0]!
    const events = this.#events.length > 1 && { events: this.#events.length }
    this.#log.error(
      { source, eventId: id, ...events, code: codeOf(error), step: 'handle' },
      'a call on ctx that was not awaited has failed; await it in the handler',
    )
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

/** The events of each handler call that runs now in this process. */
export const runningNow = new Set<readonly EventKey[]>()
const MAX_NAMED = 20

/** Logs unhandled rejections with the events whose handlers run; one of these handlers is the likely cause. */
export function logRejections(log: Logger): void {
  process.on('unhandledRejection', (reason) => {
    const names = [...runningNow]
      .flat()
      .slice(0, MAX_NAMED)
      .map(({ source, id }) => `${source}/${id}`)
    log.error(
      {
        step: 'handle',
        events: names.join(', ') || 'no handler is running: its attempt is over',
        // The place and not the message, because the message may quote the payload.
        place: stackOf(reason).split('\n', 1)[0]?.trim() || undefined,
      },
      'a promise that was not awaited has rejected; await it in the handler, so that its attempt fails',
    )
  })
}
