/** Sources of ten kinds, as counts by hour, over years of virtual time that a seed decides. */

export type Random = () => number

export interface Kind {
  readonly name: string
  counts(random: Random, hours: number, firstDay: number): number[]
}

export const YEAR_HOURS = 365 * 24

export function seeded(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Of independent events. */
function some(random: Random, mean: number): number {
  if (mean <= 0) return 0
  if (mean > 60) {
    const normal = Math.sqrt(-2 * Math.log(random() || 1e-12)) * Math.cos(2 * Math.PI * random())
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
  }
  let count = 0
  let chance = Math.exp(-mean)
  let below = chance
  for (const drawn = random(); drawn > below && count < 1_000; below += chance) chance *= mean / ++count
  return count
}

/** Central Europe: an hour ahead of UTC, two in summer. */
function localHour(hour: number): number {
  const day = Math.floor(hour / 24) % 365
  return hour + (day >= 85 && day < 300 ? 2 : 1)
}

/** Ten days of the year, two of them in a row twice. */
const holidays = new Set([0, 88, 91, 120, 129, 140, 275, 276, 358, 359])

const ofHours = (count: (hour: number, random: Random, firstDay: number) => number): Kind['counts'] => {
  return (random, hours, firstDay) =>
    Array.from({ length: hours }, (_, hour) => count(hour, random, firstDay))
}

/** More by day than by night. */
const steady = (perDay: number) =>
  ofHours((hour, random) =>
    some(random, (perDay / 24) * (1 + 0.6 * Math.sin((localHour(hour) * Math.PI) / 12))),
  )

const office = (perHour: number) =>
  ofHours((hour, random, firstDay) => {
    const local = localHour(hour)
    const weekday = (Math.floor(local / 24) + firstDay) % 7
    const isOpen = weekday < 5 && local % 24 >= 8 && local % 24 < 18
    return isOpen && !holidays.has(Math.floor(local / 24) % 365) ? some(random, perHour) : 0
  })

export const kinds: readonly Kind[] = [
  { name: '10,000 a day, day and night', counts: steady(10_000) },
  { name: '1,000 a day, day and night', counts: steady(1_000) },
  { name: '100 a day, day and night', counts: steady(100) },
  { name: '24 a day, day and night', counts: steady(24) },
  { name: '400 a working day, in office hours', counts: office(40) },
  {
    name: 'a batch every night',
    counts: ofHours((hour, random) => (localHour(hour) % 24 === 2 ? 300 + Math.floor(100 * random()) : 0)),
  },
  { name: 'a batch every six hours', counts: ofHours((hour) => (localHour(hour) % 6 === 0 ? 200 : 0)) },
  {
    name: 'bursts at random, five a week',
    counts(random, hours) {
      const counts = new Array<number>(hours).fill(0)
      for (let hour = 0; hour < hours; hour++) {
        if (random() >= 5 / 168) continue
        const size = 1_000 + 2_000 * random()
        for (const [i, share] of [1, 0.5, 0.25].entries())
          if (hour + i < hours) counts[hour + i]! += Math.round(size * share)
      }
      return counts
    },
  },
  { name: 'one a day, at any time', counts: ofHours((_, random) => some(random, 1 / 24)) },
  { name: 'three a week, at any time', counts: ofHours((_, random) => some(random, 3 / 168)) },
]

/** Half as many every week, from 1,000 a day. */
export const dying: Kind = {
  name: 'half as many every week',
  counts: ofHours((hour, random) => some(random, (1_000 / 24) * 0.5 ** (Math.max(0, hour - 840) / 168))),
}
