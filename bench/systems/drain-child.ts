/** The child process of the processing suite: loads and drains one system. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { answer } from '../support/child-process.js'
import { ours } from './ours.js'
import { peers } from './peers.js'

const kind = process.argv[2]!
const system = await (peers[kind] ?? (() => ours(kind)))()
const watcher = new pg.Client({ connectionString: process.env.BENCH_POSTGRES! })
await watcher.connect()

answer({
  async load({ count, batch }) {
    const items = Array.from({ length: Number(count) }, (_, i) => ({
      id: `evt_${batch}_${i}`,
      amount: i,
      note: 'x'.repeat(140),
    }))
    for (let i = 0; i < items.length; i += 500) await system.load(items.slice(i, i + 500))
  },
  async drain({ count }) {
    const cpuBefore = process.cpuUsage()
    const logBefore = (await system.logBytes?.()) ?? 0
    let firstAt = 0
    let events = 0
    let allBegan = () => {}
    // The events that began so far, at a regular interval: for a long drain.
    const series: number[] = []
    const sampleMs = Number(process.env.BENCH_SAMPLE_MS ?? 1_000)
    const sampling = setInterval(() => firstAt && series.push(events), sampleMs)
    const beginning = new Promise<void>((resolve) => {
      allBegan = resolve
    })
    const stop = await system.work((some) => {
      firstAt ||= performance.now()
      events += some
      if (events >= Number(count)) allBegan()
    })
    await beginning
    clearInterval(sampling)
    while ((await visible()) < Number(count)) await sleep(1)
    const seconds = (performance.now() - firstAt) / 1_000
    await stop()
    const { user, system: kernel } = process.cpuUsage(cpuBefore)
    const log = ((await system.logBytes?.()) ?? 0) - logBefore
    return { seconds, series, sampleMs, cpu: user + kernel, log }
  },
  async stop() {
    await system.close()
    await watcher.end()
    process.exit(0)
  },
})

async function visible(): Promise<number> {
  const { rows } = await watcher.query<{ count: string }>('select count(*) from effects')
  return Number(rows[0]!.count)
}
