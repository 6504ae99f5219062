/**
 * What users can expect of the watch over their sources, over years of virtual time: how many false reports, and after how
 * long a source that stops is reported. docs/telemetry.md has the figures of five years: `npm run chaos -- rhythms` compares
 * them. One year shows that they are not far off.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hoursAllowed, learnRhythm, REMEMBERED_HOURS } from '#dist/silence/rhythm.js'
import { dying, type Kind, kinds, seeded, YEAR_HOURS } from './rhythms.js'

const DOCUMENTED_YEARS = 5
const YEARS = Number(process.env.HOOKONCE_RHYTHM_YEARS ?? 1)
const STOPS_A_YEAR = 3

interface Measured {
  readonly falseReports: number
  /** Hours from the last delivery to the report, in order. */
  readonly delays: readonly number[]
  readonly unreported: number
}

/** True when the silence up to the end of `hour` is reported. */
function isReported(counts: readonly number[], lastActive: number, hour: number, firstHour: number): boolean {
  const from = Math.max(0, hour + 1 - REMEMBERED_HOURS)
  const rhythm = learnRhythm({ firstHour: firstHour + from, counts: counts.slice(from, hour + 1) })
  return rhythm !== null && hour - lastActive >= hoursAllowed(rhythm, firstHour + lastActive + 1)
}

function watch({ counts }: Kind): Measured {
  let falseReports = 0
  let unreported = 0
  const delays: number[] = []
  for (let year = 0; year < YEARS; year++) {
    const random = seeded(1_000 * year + 7)
    const firstDay = (year * 3) % 7
    const all = counts(random, REMEMBERED_HOURS + YEAR_HOURS, firstDay)
    falseReports += reports(all)
    for (let i = 0; i < STOPS_A_YEAR; i++) {
      const stop = REMEMBERED_HOURS + Math.floor(random() * (YEAR_HOURS - 60 * 24))
      const delay = delayAfter(all.slice(0, stop))
      if (delay === null) unreported++
      else delays.push(delay)
    }
  }
  return { falseReports: falseReports / YEARS, delays: delays.sort((a, b) => a - b), unreported }
}

function reports(counts: readonly number[]): number {
  let found = 0
  let lastActive = -1
  let reported = false
  for (const [hour, count] of counts.entries()) {
    if (count > 0) {
      lastActive = hour
      reported = false
    } else if (hour >= REMEMBERED_HOURS && !reported && isReported(counts, lastActive, hour, 0)) {
      found++
      reported = true
    }
  }
  return found
}

function delayAfter(counts: number[]): number | null {
  const lastActive = counts.findLastIndex((count) => count > 0)
  for (let hour = lastActive + 1; hour < lastActive + 60 * 24; hour++) {
    counts[hour] = 0
    if (isReported(counts, lastActive, hour, 0)) return hour - lastActive
  }
  return null
}

/** `| kind | half of them within | nine of ten within | false reports a year |` */
function row({ name }: Kind, { delays, unreported, falseReports }: Measured): string {
  const within = (share: number) => {
    const delay = [...delays, ...new Array<number>(unreported).fill(Number.POSITIVE_INFINITY)][
      Math.floor((delays.length + unreported) * share)
    ]!
    if (delay === Number.POSITIVE_INFINITY) return 'never'
    return delay < 48 ? `${delay + 1} hours` : `${Math.ceil((delay + 1) / 24)} days`
  }
  return `| ${name} | ${within(0.5)} | ${within(0.9)} | ${falseReports} |`
}

const documented = readFileSync('docs/telemetry.md', 'utf8')

/** As documented: days until nine of ten are reported, and false reports a year. */
function expectedOf({ name }: Kind): { readonly days: number; readonly falseReports: number } {
  const row = documented.split('\n').find((line) => line.startsWith(`| ${name} |`))!
  const [, , , most, falseReports] = row.split('|').map((cell) => cell.trim())
  const [number, unit] = most!.split(' ')
  return { days: Number(number) / (unit === 'hours' ? 24 : 1), falseReports: Number(falseReports) }
}

/** The last one is the slowest, and says least. */
const tried = YEARS === DOCUMENTED_YEARS ? kinds : kinds.slice(0, -1)

test.for(tried)('$name: reported as documented, and seldom without a cause', { timeout: 300_000 }, (kind) => {
  const measured = watch(kind)
  expect(measured.unreported).toBeLessThanOrEqual(2)
  if (YEARS === DOCUMENTED_YEARS) {
    expect(documented).toContain(row(kind, measured))
    expect(measured.falseReports).toBeLessThan(2)
    return
  }
  const { days, falseReports } = expectedOf(kind)
  // A year may have several, where some years have any.
  expect(measured.falseReports).toBeLessThanOrEqual(falseReports === 0 ? 0 : 3)
  for (const delay of measured.delays) expect(delay).toBeLessThan(3 * days * 24)
})

test('a source that dies slowly is reported before it is dead', () => {
  for (let seed = 0; seed < 10; seed++) {
    const counts = dying.counts(seeded(seed), REMEMBERED_HOURS + YEAR_HOURS / 2, 0)
    const last = counts.findLastIndex((count) => count > 0)
    const first = firstReport(counts)
    expect(first, `of seed ${seed}`).toBeLessThan(last + 48)
    expect(first).toBeGreaterThan(REMEMBERED_HOURS + 3 * 168)
  }
})

function firstReport(counts: readonly number[]): number {
  let lastActive = -1
  for (const [hour, count] of counts.entries()) {
    if (count > 0) lastActive = hour
    else if (hour >= REMEMBERED_HOURS && isReported(counts, lastActive, hour, 0)) return hour
  }
  return Number.POSITIVE_INFINITY
}

test('nothing is judged before two weeks of deliveries, and nothing that comes too seldom', () => {
  const hourly = (hours: number) => learnRhythm({ firstHour: 0, counts: new Array<number>(hours).fill(5) })
  expect(hourly(14 * 24 - 1)).toBeNull()
  expect(hourly(14 * 24)).not.toBeNull()
  const weekly = Array.from({ length: REMEMBERED_HOURS }, (_, hour) => (hour % (9 * 24) === 0 ? 50 : 0))
  expect(learnRhythm({ firstHour: 0, counts: weekly })).toBeNull()
  expect(learnRhythm({ firstHour: 0, counts: new Array<number>(REMEMBERED_HOURS).fill(0) })).toBeNull()
})

test('an outage does not hide the next one', () => {
  const counts = new Array<number>(REMEMBERED_HOURS).fill(50)
  counts.fill(0, 500, 540)
  const rhythm = learnRhythm({ firstHour: 0, counts })!
  expect(hoursAllowed(rhythm, REMEMBERED_HOURS)).toBeLessThan(20)
})
