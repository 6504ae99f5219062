/**
 * Processing, in three parts; `-- processing [rounds] [events]`:
 *   drain     recorded events are processed 16 at a time, one effect row each: hookonce and others, interleaved
 *   latency   an idle system: from sending the HTTP delivery to the start of its handler
 *   snapshot  the cost of a claim while another session has a snapshot open, compared with no snapshot
 * All on one PostgreSQL with fsync and synchronous_commit on. `BENCH_ONLY=ours-tx,graphile` runs only these in the drain,
 * `BENCH_PROFILE=folder` writes a CPU profile of each process there.
 */
import { startPostgres } from '../test/support/postgres.js'
import { drainBench } from './processing/drain.js'
import { latencyBench } from './processing/latency.js'
import { snapshotBench } from './processing/snapshot.js'

export async function processingBench(args: string[]): Promise<void> {
  const rounds = Number(args[0] ?? 5)
  const events = Number(args[1] ?? 6_000)
  const database = await startPostgres({
    settings: { shared_buffers: '512MB', max_wal_size: '8GB', checkpoint_timeout: '1h' },
  })
  try {
    await drainBench(database, rounds, events)
    if (process.env.BENCH_ONLY) return
    await latencyBench(database.url)
    await snapshotBench(database.url, rounds)
  } finally {
    await database.remove()
  }
}
