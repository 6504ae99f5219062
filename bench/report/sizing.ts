/** Sizing at 10, 1,000 and 10,000 events a second, from the CPU time and the WAL that one event costs in the same run. */
import type { SuiteResult, Table } from '../suite.js'

const RATES = [10, 1_000, 10_000]
/** A core that is busier than this makes the slowest requests wait. */
const BUSY = 0.6

export function sizingTable(suites: readonly SuiteResult[]): Table {
  const figure = (suite: string, name: string) =>
    suites.find((result) => result.name === suite)?.figures[name] ?? Number.NaN
  const cores = (rate: number, ...microseconds: number[]) =>
    (rate * microseconds.reduce((sum, value) => sum + value, 0)) / 1e6 / BUSY
  const intake = (name: string) => figure('intake', name)
  const processing = (name: string) => figure('processing', name)
  return {
    title: `Cores at ${100 * BUSY} % load, for events of 1 kB whose handler writes one row; WAL for events of 500 bytes`,
    head: [
      'events a second',
      'SQLite: receive',
      'PostgreSQL: receive, Node',
      'handle, Node: a transaction each / `share: 50`',
      'PostgreSQL server: a transaction each / `share: 50`',
      'WAL MB/s',
      'WAL GB a day',
    ],
    rows: RATES.map((rate) => {
      const wal = (rate * figure('store', 'wal')) / 1_000
      return [
        rate.toLocaleString('en-US'),
        few(cores(rate, intake('sqlite.cpu'))),
        few(cores(rate, intake('postgres.cpu'))),
        ['ours-tx', 'ours-share'].map((kind) => few(cores(rate, processing(`${kind}.own`)))).join(' / '),
        ['ours-tx', 'ours-share']
          .map((kind) => few(cores(rate, intake('postgres.storeCpu'), processing(`${kind}.server`))))
          .join(' / '),
        wal,
        (wal * 86_400) / 1_000,
      ]
    }),
  }
}

function few(cores: number): string {
  if (!Number.isFinite(cores)) return '-'
  return cores < 0.05 ? '< 0.05' : cores.toFixed(cores < 1 ? 2 : 1)
}
