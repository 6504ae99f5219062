/** Rounds of the black-box run: deliveries, one or two faults, and a verdict on every event from outside. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { traceOf } from '../../test/model/history.js'
import { follow } from '../../test/model/spin.js'
import { startDriver } from '../cluster/driver.js'
import { deliveryOf, eventsOf, startStrangers } from './deliveries.js'
import { type Fault, faults } from './faults.js'
import { buildWorld, type Effect, type StoreKind, type World } from './world.js'

export interface RoundResult {
  readonly round: number
  readonly faults: string
  /** Events, not deliveries: some deliveries have three. */
  readonly acknowledged: number
  /** Answers other than 2xx, and missing answers: the driver has sent these again. */
  readonly refused: number
  readonly lost: number
  readonly doubled: number
  readonly unexpected: number
  readonly stuck: number
  /** Effects of a lane that are not in the order of recording. */
  readonly unordered: number
  /** Faults that have found something themselves, such as a damaged backup. */
  readonly problems: readonly string[]
  /** From the end of the last fault until everything acknowledged by then was handled. */
  readonly recoveredSeconds: number
}

export interface RunOptions {
  readonly kind: StoreKind
  readonly rounds: number
  readonly events: number
  readonly perSecond: number
  /** Decides the faults and the processes that they hit. */
  readonly seed: number
  readonly intakes?: number
  readonly workers?: number
  /** The faults to choose from; all that apply when left out. */
  readonly only?: readonly string[]
  /** How long an event may take before it counts as stuck. Default 120,000. */
  readonly stuckMs?: number
  /** Begin no round after this time (Date.now()). */
  readonly until?: number
  readonly onRound?: (result: RoundResult) => void
  readonly onLeftOut?: (fault: string, why: string) => void
}

const STUCK_MS = 120_000
/** No process has a longer one. */
const MAX_LEASE_MS = 10_000

export function isGood(result: RoundResult): boolean {
  const { lost, doubled, unexpected, stuck, unordered, problems } = result
  return lost + doubled + unexpected + stuck + unordered + problems.length === 0
}

export async function runRounds(options: RunOptions): Promise<RoundResult[]> {
  const { kind, rounds, only, seed, intakes = 2, workers = 4, until = Number.POSITIVE_INFINITY } = options
  const random = randomOf(seed)
  const world = await buildWorld(kind, intakes, workers)
  const results: RoundResult[] = []
  const endEarly = () => void world.end().finally(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, endEarly)
  try {
    const usable = faults.filter(({ name, on, cannot }) => {
      if ((on ?? kind) !== kind || only?.includes(name) === false) return false
      const why = cannot?.(world) ?? null
      if (why !== null) options.onLeftOut?.(name, why)
      return why === null
    })
    for (let round = 0; round < rounds && Date.now() < until; round++) {
      // Every fault alone first, then in pairs.
      const first = usable[round % usable.length]!
      const others = usable.filter(({ touches }) => touches !== first.touches)
      const second = round < usable.length ? undefined : others[Math.floor(random() * others.length)]
      const chosen = second === undefined ? [first] : [first, second]
      const result = await runRound(world, round, chosen, random, options)
      results.push(result)
      options.onRound?.(result)
    }
    const forbidden = await follow(traceOf(await world.history(), { leaseMs: MAX_LEASE_MS }))
    if (forbidden !== null && results.length > 0) {
      const last = {
        ...results.at(-1)!,
        round: results.length,
        faults: 'the trace of all rounds',
        problems: [forbidden],
      }
      results.push(last)
      options.onRound?.(last)
    }
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, endEarly)
    await world.end()
  }
  return results
}

async function runRound(
  world: World,
  round: number,
  chosen: readonly Fault[],
  random: () => number,
  { events, perSecond, stuckMs = STUCK_MS }: RunOptions,
): Promise<RoundResult> {
  const group = `r${round}`
  const urls = world.nodes.filter(({ role }) => role === 'intake').map(({ url }) => url)
  const ledger = join(world.folder, `${group}.ledger`)
  const driver = startDriver(group, urls, perSecond, ledger, { deliveryOf, events, repeatEvery: 3 })
  const strangers = startStrangers(urls, group, perSecond)
  await driver.reached(Math.ceil(events / 3))
  const problems: string[] = []
  await Promise.all(
    chosen.map((fault) =>
      fault.run(world, random).catch((error: Error) => problems.push(`${fault.name}: ${error.message}`)),
    ),
  )
  const healedAt = performance.now()
  const before = new Set(driver.acknowledged().flatMap(eventsOf))
  const recovered = handled(world, before, stuckMs).then(() => performance.now() - healedAt)
  await driver.finish()
  strangers.stop()
  const acknowledged = new Set(driver.acknowledged().flatMap(eventsOf))
  driver.stop()
  if (driver.open > 0)
    problems.push(`answers: ${[...driver.answers].map((one) => one.join(' x ')).join(', ')}`)
  const recoveredMs = await recovered
  const { effects, unfinished } = await handled(world, acknowledged, stuckMs, true)
  const own = effects.filter(({ event }) => event.startsWith(`${group}-`) || event.startsWith(`${group}!`))
  const there = new Set(own.map(({ event }) => event))
  const missing = [...acknowledged].filter((id) => !there.has(id)).length
  return {
    round,
    faults: chosen.map(({ name }) => name).join(' + '),
    acknowledged: acknowledged.size,
    refused: [...driver.answers].reduce((sum, [status, n]) => (status.startsWith('2') ? sum : sum + n), 0),
    lost: Math.max(0, missing - unfinished),
    stuck: Math.max(unfinished, driver.open),
    doubled: own.length - new Set(own.map(({ event, run }) => `${event} ${run}`)).size,
    unexpected: [...there].filter((id) => !acknowledged.has(id)).length,
    unordered: unordered(own, await world.lanes(), driver.isBefore),
    problems,
    recoveredSeconds: Math.round(recoveredMs / 100) / 10,
  }
}

/** Resolves when every acknowledged event has an effect (and with `all` no event is unfinished), or after a long time. */
async function handled(
  world: World,
  acknowledged: ReadonlySet<string>,
  stuckMs: number,
  all = false,
): Promise<{ readonly effects: readonly Effect[]; readonly unfinished: number }> {
  const giveUpAt = performance.now() + stuckMs
  for (;;) {
    try {
      const effects = await world.effects()
      const unfinished = all ? await world.unfinished() : 0
      const there = new Set(effects.map(({ event }) => event))
      const done = unfinished === 0 && [...acknowledged].every((id) => there.has(id))
      if (done || performance.now() > giveUpAt) return { effects, unfinished }
    } catch (error) {
      if (performance.now() > giveUpAt) throw error
    }
    await sleep(100)
  }
}

/**
 * The number of effects that came before that of an event of their lane which has to be first: it was recorded earlier,
 * by the same delivery or by one that was acknowledged before this one was sent. Two nodes that record at the same
 * moment commit in any order.
 */
function unordered(
  effects: readonly Effect[],
  lanes: readonly { readonly lane: string; readonly event: string }[],
  isBefore: (delivery: string, other: string) => boolean,
): number {
  const place = new Map(lanes.map(({ event, lane }, i) => [event, { event, lane, at: i }]))
  const deliveryOf = (event: string) => event.split('.')[0]!
  const handled = new Map<string, { readonly event: string; readonly at: number }[]>()
  let count = 0
  for (const { event, run } of effects) {
    const recorded = place.get(event)
    if (recorded === undefined || run > 1) continue
    const own = deliveryOf(event)
    const sameLane = handled.get(recorded.lane) ?? []
    const isLate = sameLane.some(({ event: other, at }) => {
      const theirs = deliveryOf(other)
      return recorded.at < at && (own === theirs || isBefore(own, theirs))
    })
    if (isLate) count++
    handled.set(recorded.lane, [...sameLane, recorded])
  }
  return count
}

/** mulberry32 */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
