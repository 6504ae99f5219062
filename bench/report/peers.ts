/** hookonce beside the best of the other systems in each comparison, and the reason where another one is ahead. */
import type { SuiteResult, Table } from '../suite.js'
import { text } from './table.js'

interface Comparison {
  readonly what: string
  readonly suite: string
  readonly ours: string
  readonly others: Readonly<Record<string, string>>
  /** Of a latency, a time or a size, the smaller one is better. */
  readonly smallerIsBetter?: true
  /** Printed where another system is ahead. */
  readonly why: string
}

const routes = {
  handwritten: 'hand-written handler',
  'pg-boss': 'pg-boss',
  graphile: 'graphile-worker',
  bullmq: 'BullMQ',
}
const workers = {
  'pg-boss': 'pg-boss',
  graphile: 'graphile-worker',
  bullmq: 'BullMQ',
  'by-hand': 'hand-written loop',
}

const oneByOne = { graphile: 'graphile-worker', bullmq: 'BullMQ', 'by-hand': 'hand-written loop' }

const named = (names: Readonly<Record<string, string>>, figure: (side: string) => string) =>
  Object.fromEntries(Object.entries(names).map(([side, name]) => [figure(side), name]))

const intakeWhy =
  'the others write one row and leave verification of other senders, limits and counters to the route'

const comparisons: readonly Comparison[] = [
  ...['all new', '1 connection', '256 connections', '20 kB', '50 % duplicates', '99 % duplicates'].map(
    (variant) => ({
      what: `intake on PostgreSQL, ${variant}, events/s`,
      suite: 'intake',
      ours: `postgres.${variant}`,
      others: named(routes, (side) => `${side}.${variant}`),
      why:
        variant === '1 connection'
          ? `nothing shares a commit with a single connection, and ${intakeWhy}`
          : variant.includes('duplicates')
            ? `a queue finds a known key in its own table and answers; hookonce also compares the content and counts the duplicate`
            : intakeWhy,
    }),
  ),
  ...(
    [
      [
        'a transaction per event',
        'ours-tx',
        'the others commit the effect alone and complete their entries in batches afterwards: a crash between the two repeats the effect',
      ],
      [
        'shared transactions',
        'ours-share',
        'pg-boss gets 50 entries in one call and writes their effects in one statement; `share` calls the handler for each event',
      ],
      [
        'no transaction',
        'ours-plain',
        'every outcome is a row in the log and fenced by its lease; a queue deletes its entry',
      ],
      [
        'groups (`onBatch`)',
        'ours-group',
        'every outcome is fenced by its lease in the transaction of the effect',
      ],
      ['ordered over 10,000 references', 'ours-ordered-10000', 'the others run without any order'],
    ] as const
  ).map(([mode, kind, why]) => ({
    what: `processing, ${mode}, events/s`,
    suite: 'processing',
    ours: `${kind}.perSecond`,
    // A handler that is called for one event is compared with such handlers; pg-boss passes 50 events to its own.
    others: named(
      kind === 'ours-share' || kind === 'ours-group' ? workers : oneByOne,
      (side) => `${side}.perSecond`,
    ),
    why,
  })),
  {
    what: 'end to end: capacity of one process, events/s',
    suite: 'end-to-end',
    ours: 'share.capacity',
    others: named(
      { 'pg-boss': 'pg-boss', graphile: 'graphile-worker', bullmq: 'BullMQ' },
      (side) => `${side}.capacity`,
    ),
    why: 'Redis answers without a transaction log shared with the effect',
  },
  {
    what: 'end to end at 300 events a second: p99 to the end of the handler, ms',
    suite: 'end-to-end',
    ours: 'share.done99',
    others: named(
      { 'pg-boss': 'pg-boss', graphile: 'graphile-worker', bullmq: 'BullMQ' },
      (side) => `${side}.done99`,
    ),
    smallerIsBetter: true,
    why: 'the others do not commit effect and outcome together',
  },
  {
    what: 'start-up on PostgreSQL, ms',
    suite: 'startup',
    ours: 'postgres',
    others: { express: 'Express + pg' },
    smallerIsBetter: true,
    why: 'hookonce checks its schema before it accepts a delivery',
  },
  {
    what: 'size of the installation with a driver for PostgreSQL, MB',
    suite: 'install',
    ours: 'withPg',
    others: { express: 'Express + pg', 'pg-boss': 'pg-boss', graphile: 'graphile-worker', bullmq: 'BullMQ' },
    smallerIsBetter: true,
    why: 'the package has the rules and samples of over 100 senders, a server, a command line and its documents',
  },
]

export function peersTable(suites: readonly SuiteResult[]): Table {
  return {
    title: 'hookonce and the best of the others',
    head: ['comparison', 'hookonce', 'best of the others', 'ahead', 'why, where another system is ahead'],
    rows: comparisons.map(({ what, suite, ours, others, smallerIsBetter, why }) => {
      const figures = suites.find(({ name }) => name === suite)?.figures ?? {}
      const own = figures[ours] ?? Number.NaN
      const [best] = Object.entries(others)
        .map(([figure, name]) => ({ name, value: figures[figure] ?? Number.NaN }))
        .filter(({ value }) => Number.isFinite(value))
        .sort((a, b) => (smallerIsBetter ? a.value - b.value : b.value - a.value))
      if (best === undefined || !Number.isFinite(own)) return [what, own, '-', 'not measured', '']
      const ratio = smallerIsBetter ? best.value / own : own / best.value
      return [
        what,
        own,
        `${text(best.value)} (${best.name})`,
        ratio >= 1 ? `hookonce, ${text(ratio)}x` : `${best.name}, ${text(1 / ratio)}x`,
        ratio >= 1 ? '' : why,
      ]
    }),
  }
}
