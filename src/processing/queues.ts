/** The buffer: claimed events that wait for a place, in a queue for each handler. */
import type { ClaimedEvent } from '../model.js'
import type { Holder } from './places.js'

export class Queues<Tx> {
  /** The handler that was served least recently first. A queue is never empty. */
  readonly #queues = new Map<Holder<Tx>, ClaimedEvent[]>()
  /** Events of a batch that failed. */
  readonly #alone = new WeakSet<ClaimedEvent>()

  get size(): number {
    return this.#queues.size
  }

  holders(): IterableIterator<Holder<Tx>> {
    return this.#queues.keys()
  }

  of(holder: Holder<Tx>): readonly ClaimedEvent[] {
    return this.#queues.get(holder) ?? []
  }

  add(holder: Holder<Tx>, event: ClaimedEvent): void {
    const queue = this.#queues.get(holder)
    if (queue) queue.push(event)
    else this.#queues.set(holder, [event])
  }

  putBack(holder: Holder<Tx>, event: ClaimedEvent): void {
    this.#set(holder, [event, ...this.of(holder)])
  }

  runAlone(event: ClaimedEvent): void {
    this.#alone.add(event)
  }

  /** False for an event that has failed before, alone or in a batch: it would probably fail its neighbours. */
  mayShare(event: ClaimedEvent): boolean {
    return event.tries === 1 && !this.#alone.has(event)
  }

  /** Takes the first event, and up to `most` events that may share. The handler goes to the end of the turns. */
  take(holder: Holder<Tx>, most: number): ClaimedEvent[] {
    const queue = this.#queues.get(holder)!
    const taken = queue.splice(0, 1)
    for (let i = 0; i < queue.length && taken.length < most; ) {
      if (this.mayShare(queue[i]!)) taken.push(...queue.splice(i, 1))
      else i++
    }
    this.#queues.delete(holder)
    this.#set(holder, queue)
    return taken
  }

  remove(holder: Holder<Tx>, isUnwanted: (event: ClaimedEvent, position: number) => boolean): ClaimedEvent[] {
    const removed: ClaimedEvent[] = []
    const left = this.of(holder).filter((event, position) => {
      const isRemoved = isUnwanted(event, position)
      if (isRemoved) removed.push(event)
      return !isRemoved
    })
    this.#set(holder, left)
    return removed
  }

  clear(): ClaimedEvent[] {
    const events = [...this.#queues.values()].flat()
    this.#queues.clear()
    return events
  }

  #set(holder: Holder<Tx>, queue: ClaimedEvent[]): void {
    if (queue.length === 0) this.#queues.delete(holder)
    else this.#queues.set(holder, queue)
  }
}
