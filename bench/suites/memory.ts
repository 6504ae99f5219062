/**
 * Memory of a process that receives and handles events at a constant rate over 64 connections. The slope is that of a
 * straight line through the samples of the second half: a heap grows at first and is flat later.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../report/table.js'
import type { Suite } from '../suite.js'
import type { Child } from '../support/child-process.js'
import { residentBytes } from '../support/cpu.js'
import { steadyLoad } from '../support/load.js'
import { SECRET, stripeRequests } from '../support/requests.js'

const PER_SECOND = 400
const PORTION_SECONDS = 5

type Point = readonly [minutes: number, megabytes: number]

export const memory: Suite = {
  name: 'memory',
  title: 'Memory under load',
  minutes: 6,
  async run(bench) {
    const seconds = bench.short ? 1 : bench.full ? 600 : bench.budgetMs / 1_000
    bench.note(
      `Load for ${(seconds / 60).toFixed(1)} minutes (--full: 10) at ${PER_SECOND} events a second for each process, received and handled.`,
    )
    const stores = { sqlite: `sqlite:${bench.folder()}/events.db`, postgres: await bench.database() }
    const workers = new Map<string, { readonly child: Child; readonly port: number }>()
    for (const [side, url] of Object.entries(stores)) {
      const child = await bench.child(new URL('../sides/lean-server.mjs', import.meta.url), [url, SECRET], {})
      workers.set(side, { child, ...(child.greeting as { port: number }) })
    }
    const startedAt = performance.now()
    const minutes = () => (performance.now() - startedAt) / 60_000
    const found = new Map<string, Point[]>([...workers.keys()].map((side) => [side, []]))
    const sample = () => {
      for (const [side, { child }] of workers)
        found.get(side)!.push([minutes(), residentBytes(child.pid) / 1e6])
    }
    const timer = setInterval(sample, bench.short ? 100 : 1_000)
    try {
      for (let portion = 1; minutes() * 60 < seconds; portion++) {
        const portionSeconds = Math.min(PORTION_SECONDS, seconds)
        await Promise.all(
          [...workers.values()].map(({ port }) =>
            steadyLoad(port, PER_SECOND, stripeRequests(Math.ceil(PER_SECOND * portionSeconds)), () =>
              sleep(portionSeconds * 1_000),
            ),
          ),
        )
        if (portion % 6 === 0) bench.progress(`${minutes().toFixed(1)} minutes`)
      }
    } finally {
      clearInterval(timer)
    }
    sample()
    const names: Record<string, string> = { sqlite: 'hookonce, SQLite', postgres: 'hookonce, PostgreSQL' }
    const figures: Record<string, number> = {}
    const rows = [...found].map(([side, points]) => {
      const late = points.slice(Math.floor(points.length / 2))
      const end = median(late.slice(-5).map(([, value]) => value))
      const slope = slopeOf(late)
      figures[`${side}.rss`] = end
      figures[`${side}.slope`] = (100 * slope) / end
      return [names[side]!, Math.max(...points.map(([, value]) => value)), end, slope, (100 * slope) / end]
    })
    return {
      tables: [
        {
          title: 'Resident memory (RSS)',
          head: ['process', 'highest MB', 'at the end MB', 'second half: MB a minute', '% a minute'],
          rows,
        },
      ],
      figures,
    }
  },
}

/** Least squares. */
function slopeOf(points: readonly Point[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [mx, my] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  const above = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0)
  const below = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0)
  return below === 0 ? 0 : above / below
}
