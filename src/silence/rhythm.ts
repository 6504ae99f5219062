/**
 * Learns when a source usually delivers, from its counts by hour, and says how long it may be silent.
 *
 * A silence is measured in deliveries: how many came at the same hours of the week before. So a night or a weekend without
 * deliveries weighs nothing. How many may be missing follows from the source itself: how many come together, and which
 * pauses it makes.
 */

/** Complete hours, the oldest first. */
export interface HourCounts {
  /** In hours since 1970. */
  readonly firstHour: number
  readonly counts: readonly number[]
}

export interface Rhythm {
  /** Deliveries for each hour of the week, on average. */
  readonly usual: readonly number[]
  /** How many deliveries come together. 1: each comes independently of the others. */
  readonly together: number
  /** A silence in which so many deliveries were to be expected is reported. */
  readonly allowed: number
}

export const HOUR_MS = 3_600_000
/** The log keeps counts by hour this long. */
export const REMEMBERED_HOURS = 35 * 24
const WEEK = 168
/** Two weekends: one alone may have been a holiday. */
const LEARNING_HOURS = 14 * 24
const LEARNING_ACTIVE_HOURS = 5
/** A week later, the counts that are kept no longer cover two weeks of deliveries. */
const LONGEST_SILENCE_HOURS = 17 * 24
/** Of one source, when its deliveries come independently. */
const FALSE_REPORTS_A_YEAR = 0.05
/** A day with less than this share of the busiest day is a day of rest. */
const REST = 0.05
const HOURS_A_YEAR = 8_766

/** Null while there is too little to learn from. */
export function learnRhythm({ firstHour, counts }: HourCounts): Rhythm | null {
  const first = counts.findIndex((count) => count > 0)
  const past = counts.slice(Math.max(0, first), counts.findLastIndex((count) => count > 0) + 1)
  if (past.length < LEARNING_HOURS || past.filter((count) => count > 0).length < LEARNING_ACTIVE_HOURS)
    return null
  const start = firstHour + first
  const { usual, others, together } = profile(past, start)
  const scale = Math.max(together, usualPause(past, start, others), 0.05)
  const chances = ((sum(usual) / WEEK) * HOURS_A_YEAR) / scale
  const improbable = Math.log(Math.min(HOURS_A_YEAR, Math.max(1, chances)) / FALSE_REPORTS_A_YEAR) * scale
  return { usual, together, allowed: Math.max(improbable, holiday(usual)) }
}

/**
 * The hour, counted from `fromHour` on, at the end of which a silence is reported. Hours in which no process of the log was
 * running say nothing about the sender.
 */
export function hoursAllowed(
  rhythm: Rhythm,
  fromHour: number,
  isAwake: (hour: number) => boolean = () => true,
): number {
  let [hours, awake] = [0, 0]
  do if (isAwake(fromHour + hours++)) awake++
  while (awake < LONGEST_SILENCE_HOURS && missedIn(rhythm.usual, fromHour, hours, isAwake) < rhythm.allowed)
  return hours
}

/**
 * Deliveries that were to be expected in these hours. The first and the last hour count like the quietest hour beside
 * them: when the clocks change, all deliveries come an hour earlier or later.
 */
function missedIn(
  usual: readonly number[],
  fromHour: number,
  hours: number,
  isAwake: (hour: number) => boolean = () => true,
): number {
  let missed = 0
  for (let i = 0; i < hours; i++) {
    const hour = fromHour + i
    if (!isAwake(hour)) continue
    const isEdge = i === 0 || i === hours - 1
    missed += isEdge ? quietest(usual, hour) : at(usual, hour)
  }
  return missed
}

/**
 * `others`: what an hour without deliveries has in the other weeks. `together`: the variance of the counts over their mean.
 */
function profile(past: readonly number[], start: number) {
  const weeks = new Array<number>(WEEK).fill(0)
  const totals = new Array<number>(WEEK).fill(0)
  for (const [i, count] of past.entries()) {
    weeks[(start + i) % WEEK]! += 1
    totals[(start + i) % WEEK]! += count
  }
  const usual = totals.map((total, hour) => total / weeks[hour]!)
  let squares = 0
  for (const [i, count] of past.entries()) {
    const hour = (start + i) % WEEK
    squares += ((count - usual[hour]!) ** 2 * weeks[hour]!) / (weeks[hour]! - 1)
  }
  const others = totals.map((total, hour) => total / (weeks[hour]! - 1))
  return { usual, others, together: squares / sum(past) }
}

/**
 * How many deliveries the rest of a pause takes, on average. The longest pause is left out: it may have been an outage, and
 * must not hide the next one.
 */
function usualPause(past: readonly number[], start: number, others: readonly number[]): number {
  const pauses: number[] = []
  let from = 0
  for (const [i, count] of past.entries()) {
    if (count === 0) continue
    if (i > from) pauses.push(missedIn(others, start + from, i - from))
    from = i + 1
  }
  pauses.sort((a, b) => b - a).shift()
  const total = sum(pauses)
  return total === 0 ? 0 : sum(pauses.map((pause) => pause ** 2)) / (2 * total)
}

/** A source that rests at weekends rests on holidays too: a day without deliveries must not be reported. */
function holiday(usual: readonly number[]): number {
  const days = usual.map((_, hour) => {
    let day = 0
    for (let i = 0; i < 24; i++) day += at(usual, hour + i)
    return day
  })
  const busiest = Math.max(...days)
  return Math.min(...days) < REST * busiest ? 1.1 * busiest : 0
}

/**
 * Deliveries that were to be expected after a delivery. Its own hour counts like the quietest hour beside it: it may have been
 * the last of a batch.
 */
export function expectedBetween({ usual }: Rhythm, fromMs: number, toMs: number): number {
  const first = Math.floor(fromMs / HOUR_MS)
  let expected = 0
  for (let hour = first; hour * HOUR_MS < toMs; hour++) {
    const ms = Math.min(toMs, (hour + 1) * HOUR_MS) - Math.max(fromMs, hour * HOUR_MS)
    expected += ((hour === first ? quietest(usual, hour) : at(usual, hour)) * ms) / HOUR_MS
  }
  return expected
}

/** Of the hour and those beside it. */
function quietest(usual: readonly number[], hour: number): number {
  return Math.min(at(usual, hour - 1), at(usual, hour), at(usual, hour + 1))
}

function at(usual: readonly number[], hour: number): number {
  return usual[(hour + WEEK) % WEEK]!
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
