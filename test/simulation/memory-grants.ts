/** The `grants` capability of the log in memory. */
import type { Grants, LimitName, LimitState } from 'hookonce/testing/contracts'
import * as check from '#dist/store/input.js'
import { LEASE_GRACE_MS, STARTS_AHEAD_MS, UNUSED_MS } from '#dist/stores/shared/grants.js'
import type { Model } from '../property/model.js'

interface Held {
  readonly name: LimitName
  nextStartAt: number
  pausedUntil: number
  readonly holders: Map<string, { worker: string; slots: number; until: number }>
}

export class MemoryGrants {
  readonly #model: Model
  readonly #limits = new Map<string, Held>()

  constructor(model: Model) {
    this.#model = model
  }

  open(call: <T>(work: () => T) => Promise<T>): Grants {
    return {
      take: async (holder, requests) => {
        check.checkGrants(holder, requests)
        return call(() => {
          const { now } = this.#model
          const grants = requests.map((request) => this.#take(holder, request))
          for (const [id, limit] of this.#limits) {
            const oldest = Math.max(
              limit.nextStartAt,
              ...[...limit.holders.values()].map(({ until }) => until),
            )
            if (oldest < now - UNUSED_MS && limit.pausedUntil < now) this.#limits.delete(id)
          }
          return { now, grants }
        })
      },
      list: ({ source, limit }) =>
        call(() =>
          [...this.#limits.values()]
            .filter(({ name }) => source === undefined || name.source === source)
            .map(
              ({ name, nextStartAt, pausedUntil, holders }): LimitState => ({
                ...name,
                slots: slotsOf(holders, null),
                nextStartAt,
                pausedUntil,
              }),
            )
            .slice(0, limit),
        ),
    }
  }

  #take(
    { id, worker, leaseMs }: Parameters<Grants['take']>[0],
    {
      source,
      pattern,
      key,
      slots: wanted,
      starts: asked,
      pauseMs = 0,
    }: Parameters<Grants['take']>[1][number],
  ) {
    const { now } = this.#model
    const name = { source, pattern, key }
    const limit = this.#limits.get(JSON.stringify(name)) ?? {
      ...{ name, nextStartAt: 0, pausedUntil: 0 },
      holders: new Map(),
    }
    this.#limits.set(JSON.stringify(name), limit)
    if (pauseMs > 0) limit.pausedUntil = Math.max(limit.pausedUntil, now + pauseMs)
    let slots = 0
    if (wanted) {
      for (const [other, held] of limit.holders)
        if (other !== id && held.until <= now && !this.#hasLease(source, held.worker))
          limit.holders.delete(other)
      slots = Math.max(0, Math.min(wanted.wanted, wanted.most - slotsOf(limit.holders, id)))
      limit.holders.delete(id)
      if (slots > 0) limit.holders.set(id, { worker, slots, until: now + leaseMs })
    }
    limit.nextStartAt = Math.max(now, limit.nextStartAt)
    const firstStartAt = Math.max(limit.nextStartAt, limit.pausedUntil)
    const starts = asked && firstStartAt <= now + STARTS_AHEAD_MS ? asked.wanted : 0
    if (starts > 0) limit.nextStartAt = firstStartAt + starts * asked!.spacingMs
    const isUnused = limit.nextStartAt <= now && limit.pausedUntil <= now && limit.holders.size === 0
    if (isUnused && !asked) this.#limits.delete(JSON.stringify(name))
    return { slots, starts, firstStartAt, pausedUntil: limit.pausedUntil > now ? limit.pausedUntil : 0 }
  }

  #hasLease(source: string, worker: string): boolean {
    return [...this.#model.events.values()].some(
      (one) =>
        one.source === source &&
        one.work?.worker === worker &&
        one.work.token !== null &&
        one.work.nextAt > this.#model.now - LEASE_GRACE_MS,
    )
  }
}

function slotsOf(holders: Held['holders'], but: string | null): number {
  return [...holders].reduce((sum, [id, { slots }]) => sum + (id === but ? 0 : slots), 0)
}
