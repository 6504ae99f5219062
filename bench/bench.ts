/** The tools of a suite: its share of the time, databases of its own, child processes, rounds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestPostgres } from '../test/support/postgres.js'
import { type Sample, Samples } from './report/samples.js'
import { type Child, startChild } from './support/child-process.js'
import type { TestRedis } from './support/redis.js'

export interface RunOptions {
  /** The smallest sizes and one round: shows that everything runs. */
  readonly short: boolean
  /** The sizes of the issue, however long they take. */
  readonly full: boolean
  readonly minutes: number
  /** Only these sides are measured; null = all. */
  readonly sides: readonly string[] | null
  /** The executable of another version of Node, for the suite `nodes`. */
  readonly otherNode: string | null
  readonly postgres: TestPostgres
  /** Null when this machine has no redis-server. */
  readonly redis: TestRedis | null
  /** Microseconds of CPU so far that other programs have used. */
  foreignCpu(): number
}

export interface Bench extends RunOptions {
  /** The time of this suite. */
  readonly budgetMs: number
  readonly notes: string[]
  /** Those of `all` that are measured in this run. */
  measured(all: readonly string[]): string[]
  progress(line: string): void
  note(line: string): void
  /** An empty database, removed after the suite. */
  database(): Promise<string>
  /** An empty folder, removed after the suite. */
  folder(): string
  /** A child process, ended after the suite. */
  child(module: URL, args: readonly string[], env: Record<string, string>, node?: string): Promise<Child>
  /** Runs at the end of the suite, the last one first. */
  after(cleanup: () => unknown): void
  rounds(options: RoundsOptions): Promise<Samples>
  end(): Promise<void>
}

export interface RoundsOptions {
  readonly title: string
  readonly sides: readonly string[]
  /** Part of the time of the suite. */
  readonly share?: number
  readonly most?: number
  /** Rounds of a smoke test. Default 1. */
  readonly inShort?: number
  /** Before all sides of a round; -1 is the warm-up. */
  prepare?(round: number): Promise<void>
  measure(side: string, round: number): Promise<Sample>
}

export function createBench(name: string, budgetMs: number, options: RunOptions): Bench {
  const cleanups: (() => unknown)[] = []
  const notes: string[] = []
  const startedAt = performance.now()
  const progress = (line: string) =>
    console.log(`${name} ${((performance.now() - startedAt) / 1_000).toFixed(0)} s: ${line}`)
  let databases = 0

  async function administer(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: options.postgres.url })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }

  const bench: Bench = {
    ...options,
    budgetMs,
    notes,
    measured(all) {
      const found = all.filter((side) => options.sides?.includes(side) ?? true)
      if (found.length === 0) throw new Error(`--sides: no such side. The sides: ${all.join(' ')}`)
      return found
    },
    progress,
    note(line) {
      notes.push(line)
      progress(line)
    },
    after: (cleanup) => void cleanups.push(cleanup),
    async database() {
      const database = `bench_${name.replaceAll('-', '_')}_${++databases}`
      await administer(`create database ${database}`)
      bench.after(() => administer(`drop database ${database} with (force)`))
      const url = new URL(options.postgres.url)
      url.pathname = `/${database}`
      return url.href
    },
    folder() {
      const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
      bench.after(() => rmSync(folder, { recursive: true, force: true }))
      return folder
    },
    async child(module, args, env, node) {
      const child = await startChild(module, args, env, node)
      bench.after(() => child.kill())
      return child
    },
    rounds: (given) => rounds(bench, given),
    async end() {
      for (const cleanup of cleanups.reverse()) await cleanup()
    },
  }
  return bench
}

/** More CPU of other programs in a round than this part of a core, and the round is thrown away. */
const BUSY = 0.15

/**
 * Measures each side once in a round and begins each round with the next side, so that none of them always runs first or
 * after the same neighbour. A side that fails is left out from then on, and the notes say so. A round in which other
 * programs used the machine does not count, unless there is no other.
 */
async function rounds(bench: Bench, given: RoundsOptions): Promise<Samples> {
  const { title, share = 1, prepare, measure } = given
  const most = bench.short ? (given.inShort ?? 1) : (given.most ?? 9)
  const samples = new Samples()
  const endAt = performance.now() + share * bench.budgetMs
  let sides = [...given.sides]
  let longestMs = 0
  let thrown = 0
  let lastThrown: [string, Sample][] = []
  // The first round is a warm-up: plans, caches, compiled code.
  for (let round = bench.short ? 0 : -1; round - thrown < most && thrown < most; round++) {
    const startedAt = performance.now()
    if (round > 0 && !bench.short && startedAt + longestMs > endAt) break
    await prepare?.(round)
    const foreignBefore = bench.foreignCpu()
    const found: [string, Sample][] = []
    const first = Math.max(0, round) % Math.max(1, sides.length)
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) {
      try {
        found.push([side, await measure(side, round)])
      } catch (error) {
        sides = sides.filter((other) => other !== side)
        const problem = String(error instanceof Error ? error.message : error).split('\n')[0]
        bench.note(`${title}: ${side} FAILED: ${problem}`)
      }
    }
    const tookMs = performance.now() - startedAt
    const foreign = (bench.foreignCpu() - foreignBefore) / 1_000 / tookMs
    const isBusy = !bench.short && foreign > BUSY
    if (round >= 0) {
      longestMs = Math.max(longestMs, tookMs)
      if (isBusy) {
        thrown++
        lastThrown = found
      } else for (const [side, sample] of found) samples.add(side, sample)
    }
    bench.progress(
      `${title}, ${round < 0 ? 'warm-up' : `round ${round + 1}`} (${(tookMs / 1_000).toFixed(1)} s)${
        isBusy ? `, other programs used ${foreign.toFixed(2)} cores` : ''
      }`,
    )
  }
  const onlyBusy = samples.rounds === 0 && thrown > 0
  if (onlyBusy) for (const [side, sample] of lastThrown) samples.add(side, sample)
  bench.notes.push(
    `${title}: ${samples.rounds === 1 ? 'one round' : `medians of ${samples.rounds} interleaved rounds`}${
      onlyBusy
        ? ', on a machine that other programs used'
        : thrown > 0
          ? `; ${thrown} thrown away, because other programs used the machine`
          : ''
    }.`,
  )
  return samples
}
