/**
 * A store has two threads, one that writes and one that reads: disk flushes and long lists do not block the event loop, and
 * lists do not delay acknowledgements. Each starts with its first call. A log in memory has one thread, because another
 * connection would be another log.
 */
import { type Clock, type ForwardClock, forwardClock } from '../../clock.js'
import { HookonceError } from '../../errors.js'
import type { News } from '../../store.js'
import { IN_MEMORY } from './connection.js'
import {
  type Answer,
  type ArgsOf,
  type Call,
  isNews,
  type ThreadOptions,
  type ValueOf,
  type Verb,
} from './protocol.js'
import { startCallingThread } from './thread-calls.js'
import { threadSource } from './thread-source.js'

export interface ThreadsOptions extends Omit<ThreadOptions, 'readOnly'> {
  readonly clock: Clock
  readonly onNews: (news: News) => void
}

export class Threads {
  readonly #options: ThreadsOptions
  readonly #clock: ForwardClock
  #writer: ThreadLink | undefined
  #reader: ThreadLink | undefined
  #closing: Promise<void> | undefined

  constructor(options: ThreadsOptions) {
    this.#options = options
    this.#clock = forwardClock(options.clock)
  }

  get isClosed(): boolean {
    return this.#closing !== undefined
  }

  /** The time of the log. It never goes back behind the newest time written: see `connection.ts`. */
  readonly now = (): number => this.#clock.now()

  writer(): ThreadLink {
    this.insistOnOpen()
    this.#writer ??= this.#start(false)
    return this.#writer
  }

  insistOnOpen(): void {
    if (this.isClosed) throw storeClosed()
  }

  readonly write = async <V extends Verb>(verb: V, args: ArgsOf<V>): Promise<ValueOf<V>> =>
    this.writer().call(verb, args)

  readonly read = async <V extends Verb>(verb: V, args: ArgsOf<V>): Promise<ValueOf<V>> => {
    if (this.#options.path === IN_MEMORY) return this.write(verb, args)
    this.insistOnOpen()
    this.#reader ??= this.#start(true)
    return this.#reader.call(verb, args)
  }

  /** A write that may still come after `close` was called, when the writer was started before. */
  async writeLate<V extends Verb>(verb: V, args: ArgsOf<V>): Promise<void> {
    await this.#writer?.call(verb, args)
  }

  /** Rolls back an open transaction, runs `before`, and ends both threads. */
  close(before: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(before)
    return this.#closing
  }

  async #close(before: () => Promise<void>): Promise<void> {
    if (this.#writer) await this.#writer.call('abandon', null).catch(ignore)
    // A failure here loses only the duplicate counts of the last second, so it must not fail `close`.
    await before().catch(ignore)
    // The reader closes first: the last connection to close writes the WAL back into the file, and that must be the writer.
    await this.#reader?.call('close', null).catch(ignore)
    await this.#writer?.call('close', null).catch(ignore)
  }

  #start(readOnly: boolean): ThreadLink {
    const { clock: _, onNews, ...options } = this.#options
    return startThread({ ...options, readOnly }, this.#clock, onNews)
  }
}

export interface ThreadLink {
  call<V extends Verb>(verb: V, args: ArgsOf<V>, transfer?: readonly ArrayBuffer[]): Promise<ValueOf<V>>
}

const NO_TRANSFER: readonly ArrayBuffer[] = []

function startThread(options: ThreadOptions, clock: ForwardClock, onNews: (news: News) => void): ThreadLink {
  const thread = startCallingThread<Omit<Call, 'id'>>({
    name: options.readOnly ? 'hookonce-sqlite-reader' : 'hookonce-sqlite-writer',
    source: threadSource,
    options,
    isAnswer(message) {
      if (isNews(message)) {
        onNews(message)
        return false
      }
      const { logTime } = message as Answer
      if (logTime !== undefined) clock.atLeast(logTime)
      return true
    },
    unanswered(verb, problem, wasSent) {
      const isCommit = verb === 'tx.commit' || verb === 'tx.finish'
      return new HookonceError(isCommit && wasSent ? 'COMMIT_UNKNOWN' : 'STORE_FAILED', { problem })
    },
  })
  let closed = false

  return {
    async call(verb, args, transfer = NO_TRANSFER) {
      if (closed && verb === 'tx.rollback') return undefined as never
      if (closed) throw closedError(verb)
      closed = verb === 'close'
      return thread.call({ verb, now: clock.now(), args }, transfer) as Promise<never>
    },
  }
}

function closedError(verb: Verb): HookonceError {
  return verb.startsWith('tx.')
    ? new HookonceError('TRANSACTION_CLOSED', { problem: 'the store was closed' })
    : storeClosed()
}

function storeClosed(): HookonceError {
  return new HookonceError('STORE_CLOSED')
}

function ignore(): void {}
