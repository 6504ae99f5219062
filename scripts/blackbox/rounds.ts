/** Rounds of the black-box run: deliveries, one or two faults, and a verdict on every event from outside. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Sent, startDriver } from '../cluster/driver.js'
import { type Fault, faults } from './faults.js'
import { buildWorld, type StoreKind, type World } from './world.js'

export interface RoundResult {
  readonly round: number
  readonly faults: string
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly unexpected: number
  readonly stuck: number
  /** From the end of the last fault until everything was handled. */
  readonly recoveredSeconds: number
}

export interface RunOptions {
  readonly kind: StoreKind
  readonly rounds: number
  readonly events: number
  readonly perSecond: number
  /** The faults to choose from; all that apply when left out. */
  readonly only?: readonly string[]
  readonly onRound?: (result: RoundResult) => void
}

const types = ['tx', 'share', 'batch', 'ordered', 'once', 'tx'] as const
const STUCK_MS = 120_000

export async function runRounds(options: RunOptions): Promise<RoundResult[]> {
  const { kind, rounds, only } = options
  const usable = faults.filter(({ name, on }) => (on ?? kind) === kind && (only?.includes(name) ?? true))
  const world = await buildWorld(kind, 2, 4)
  const results: RoundResult[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      // Every fault alone first, then in pairs.
      const alone = round < usable.length
      const chosen = [usable[round % usable.length]!]
      if (!alone) chosen.push(usable[Math.floor(Math.random() * usable.length)]!)
      const result = await runRound(world, round, chosen, options)
      results.push(result)
      options.onRound?.(result)
    }
  } finally {
    await world.end()
  }
  return results
}

async function runRound(
  world: World,
  round: number,
  chosen: readonly Fault[],
  { events, perSecond }: RunOptions,
): Promise<RoundResult> {
  const group = `r${round}`
  const urls = world.nodes.filter(({ role }) => role === 'intake').map(({ url }) => url)
  const ledger = join(world.folder, `${group}.ledger`)
  const driver = startDriver(group, urls, perSecond, ledger, { deliveryOf, events, repeatEvery: 3 })
  const strangers = startStrangers(urls, group)
  await sleep((events / perSecond) * 300)
  await Promise.all(chosen.map((fault) => fault.run(world)))
  const healedAt = performance.now()
  await driver.finish()
  strangers.stop()
  const acknowledged = new Set(driver.acknowledged())
  driver.stop()
  const effects = await handled(world, acknowledged)
  const own = [...effects].filter(([id]) => id.startsWith(`${group}-`) || id.startsWith(`${group}!`))
  const missing = [...acknowledged].filter((id) => !effects.has(id))
  const unfinished = missing.length > 0 ? await world.unfinished().catch(() => 0) : 0
  return {
    round,
    faults: chosen.map(({ name }) => name).join(' + '),
    acknowledged: acknowledged.size,
    lost: Math.max(0, missing.length - unfinished),
    stuck: Math.min(missing.length, unfinished) + driver.open,
    doubled: own.filter(([, count]) => count > 1).length,
    unexpected: own.filter(([id]) => !acknowledged.has(id)).length,
    recoveredSeconds: Math.round((performance.now() - healedAt) / 100) / 10,
  }
}

/** The effects, when every acknowledged event has one, or when the time is over. */
async function handled(world: World, acknowledged: ReadonlySet<string>): Promise<Map<string, number>> {
  const giveUpAt = performance.now() + STUCK_MS
  for (;;) {
    const effects = await world.effects().catch(() => new Map<string, number>())
    if ([...acknowledged].every((id) => effects.has(id)) || performance.now() > giveUpAt) return effects
    await sleep(100)
  }
}

function deliveryOf(id: string): Sent {
  const n = Number(id.slice(id.lastIndexOf('-') + 1))
  const type = types[n % types.length]!
  const source = n % 7 === 0 ? 'inline' : 'shop'
  return { source, body: JSON.stringify({ id, type, ref: `r${n % 5}`, note: 'x'.repeat(200) }) }
}

/** Forged deliveries, and other content under known ids: neither may have an effect of its own. */
function startStrangers(urls: readonly string[], group: string): { stop(): void } {
  let n = 0
  const timer = setInterval(() => {
    const url = urls[n++ % urls.length]!
    const forged = {
      'x-github-delivery': `${group}!${n}`,
      'x-github-event': 'tx',
      'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
    }
    const body = JSON.stringify({ id: `${group}!${n}`, type: 'tx' })
    fetch(`${url}/webhooks/github`, { method: 'POST', headers: forged, body }).catch(() => {})
    const other = JSON.stringify({ ...JSON.parse(deliveryOf(`${group}-0`).body), note: `conflict ${n}` })
    fetch(`${url}/webhooks/${deliveryOf(`${group}-0`).source}`, { method: 'POST', body: other }).catch(
      () => {},
    )
  }, 200)
  return { stop: () => clearInterval(timer) }
}
