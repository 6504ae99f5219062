/**
 * The events of a batch, each name once. A statement that inserts many rows cannot meet the same key twice, so
 * repeats inside the batch are set aside and answered from what became of the first.
 */
import type { NewDelivery, NewEvent } from '../../model.js'

/** Where an event stands in the batch: which delivery, and which of its events. */
export interface BatchPlace {
  readonly delivery: number
  readonly part: number
}

export interface BatchEvent extends BatchPlace {
  readonly source: string
  readonly event: NewEvent
}

export interface FoldedBatch {
  /** The first of each name, in the order given. */
  readonly firsts: readonly BatchEvent[]
  /** The later ones; `first` is an index into `firsts`. */
  readonly repeats: readonly (BatchEvent & { readonly first: number })[]
}

/** Deliveries for which `skip` is true (refused ones) are left out. */
export function foldBatch(
  deliveries: readonly NewDelivery[],
  skip: (delivery: number) => boolean = () => false,
): FoldedBatch {
  const firsts: BatchEvent[] = []
  const repeats: (BatchEvent & { first: number })[] = []
  // Two levels, because a joined string could make one key of two.
  const seen = new Map<string, Map<string, number>>()
  deliveries.forEach(({ source, events }, delivery) => {
    if (skip(delivery)) return
    const ids = seen.get(source) ?? new Map<string, number>()
    seen.set(source, ids)
    events.forEach((event, part) => {
      const first = ids.get(event.eventId)
      if (first === undefined) {
        ids.set(event.eventId, firsts.length)
        firsts.push({ delivery, part, source, event })
      } else {
        repeats.push({ delivery, part, source, event, first })
      }
    })
  })
  return { firsts, repeats }
}

/** A hash that is null says nothing about the bytes, so it contradicts nothing. */
export function sameContent(one: Uint8Array | null, other: Uint8Array | null): boolean {
  return one === null || other === null || Buffer.compare(one, other) === 0
}
