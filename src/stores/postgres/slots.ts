import { randomBytes } from 'node:crypto'

/**
 * Concurrent batches must not wait for one counter row: each under way has a slot, and each process starts at a random
 * one. Two processes in one slot wait for each other's commit and stay right.
 */
export function slotKeeper() {
  const base = (randomBytes(1)[0]! % 32) * 8
  const free = [7, 6, 5, 4, 3, 2, 1, 0]
  return {
    take: () => base + (free.pop() ?? 0),
    giveBack: (slot: number) => {
      if (!free.includes(slot - base)) free.push(slot - base)
    },
  }
}
