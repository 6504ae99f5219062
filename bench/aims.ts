/** The aims, each from the figures of one suite, so that both sides of a ratio come from the same run. */
import type { SuiteResult } from './suite.js'

export interface Aim {
  readonly what: string
  readonly suite: string
  readonly figure: string
  readonly aim: number
  /** A rate must be at least the aim, a cost at most. */
  readonly is: 'at least' | 'at most'
  readonly unit: '' | 'x' | ' s' | ' MB' | ' kB' | ' % a minute'
}

export interface Reached extends Aim {
  readonly value: number
  readonly result: 'pass' | 'fail' | 'not measured'
}

const atLeast = { is: 'at least' } as const
const atMost = { is: 'at most' } as const

export const aims: readonly Aim[] = [
  {
    what: 'SQLite intake / its floor prototype',
    suite: 'intake',
    figure: 'sqlite.ofFloor',
    aim: 0.75,
    ...atLeast,
    unit: '',
  },
  {
    what: 'PostgreSQL intake / its floor prototype',
    suite: 'intake',
    figure: 'postgres.ofFloor',
    aim: 0.85,
    ...atLeast,
    unit: '',
  },
  ...[
    ['hand-written handler', 'handwritten'],
    ['pg-boss `send`', 'pg-boss'],
    ['graphile-worker `addJob`', 'graphile'],
  ].map(
    ([name, side]) =>
      ({
        what: `PostgreSQL intake / ${name}, behind the same route`,
        suite: 'intake',
        figure: `postgres.of.${side}`,
        aim: 7,
        ...atLeast,
        unit: 'x',
      }) as const,
  ),
  {
    what: "SQLite: main-thread CPU per request / bare's",
    suite: 'intake',
    figure: 'sqlite.mainOfBare',
    aim: 2.2,
    ...atMost,
    unit: 'x',
  },
  {
    what: "PostgreSQL: main-thread CPU per request / bare's",
    suite: 'intake',
    figure: 'postgres.mainOfBare',
    aim: 2.2,
    ...atMost,
    unit: 'x',
  },
  {
    what: 'SQLite: p99 of an acknowledgement / p50 of the hand-written handler',
    suite: 'intake',
    figure: 'sqlite.p99OfHandwrittenP50',
    aim: 0.3,
    ...atMost,
    unit: '',
  },
  {
    what: 'PostgreSQL: p99 of an acknowledgement / p50 of the hand-written handler',
    suite: 'intake',
    figure: 'postgres.p99OfHandwrittenP50',
    aim: 0.3,
    ...atMost,
    unit: '',
  },
  {
    what: 'one transaction per event / hand-written atomic loop',
    suite: 'processing',
    figure: 'tx.ofByHand',
    aim: 1.6,
    ...atLeast,
    unit: '',
  },
  {
    what: 'one transaction per event / graphile-worker with its local queue',
    suite: 'processing',
    figure: 'tx.ofGraphile',
    aim: 0.75,
    ...atLeast,
    unit: '',
  },
  {
    what: 'shared transactions, the same handler / graphile-worker',
    suite: 'processing',
    figure: 'share.ofGraphile',
    aim: 1.6,
    ...atLeast,
    unit: '',
  },
  {
    what: 'no transaction / graphile-worker',
    suite: 'processing',
    figure: 'plain.ofGraphile',
    aim: 1,
    ...atLeast,
    unit: '',
  },
  {
    what: '`onBatch` groups / best peer',
    suite: 'processing',
    figure: 'group.ofBest',
    aim: 2,
    ...atLeast,
    unit: 'x',
  },
  {
    what: 'inline mode / hand-written handler: rate',
    suite: 'inline',
    figure: 'rateOfByHand',
    aim: 1.2,
    ...atLeast,
    unit: '',
  },
  {
    what: 'inline mode / hand-written handler: p99 at 300 a second',
    suite: 'inline',
    figure: 'p99OfByHand',
    aim: 1,
    ...atMost,
    unit: '',
  },
  {
    what: 'end to end capacity, a transaction per event / BullMQ',
    suite: 'end-to-end',
    figure: 'postgres.ofBullmq',
    aim: 1,
    ...atLeast,
    unit: '',
  },
  {
    what: 'end to end capacity, `share: 50` / BullMQ',
    suite: 'end-to-end',
    figure: 'share.ofBullmq',
    aim: 1.3,
    ...atLeast,
    unit: '',
  },
  ...[50, 300].map(
    (rate) =>
      ({
        what: `send to handled, p50 at ${rate} a second / best peer`,
        suite: 'end-to-end',
        figure: `postgres.${rate}.ofBest`,
        aim: 1,
        ...atMost,
        unit: '',
      }) as const,
  ),
  {
    what: 'flushes of PostgreSQL for an event at 50 a second',
    suite: 'end-to-end',
    figure: 'postgres.flushes',
    aim: 2.3,
    ...atMost,
    unit: '',
  },
  {
    what: 'SQLite: 99 % duplicates / all new',
    suite: 'intake',
    figure: 'sqlite.duplicates',
    aim: 1.5,
    ...atLeast,
    unit: 'x',
  },
  {
    what: 'PostgreSQL: 99 % duplicates / all new',
    suite: 'intake',
    figure: 'postgres.duplicates',
    aim: 1.5,
    ...atLeast,
    unit: 'x',
  },
  ...(['sqlite', 'postgres'] as const).flatMap((store) =>
    ['record', 'claim', 'list', 'readyz'].map(
      (verb) =>
        ({
          what: `${store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}: ${verb} at the largest log / 10,000 rows`,
          suite: 'growth',
          figure: `${store}.${verb}`,
          aim: 1.3,
          ...atMost,
          unit: 'x',
        }) as const,
    ),
  ),
  {
    what: 'SQLite: recovery after kill -9 with 500 held events, beyond the lease',
    suite: 'recovery',
    figure: 'sqlite.beyondLease',
    aim: 5,
    ...atMost,
    unit: ' s',
  },
  {
    what: 'PostgreSQL: recovery after kill -9 with 500 held events, beyond the lease',
    suite: 'recovery',
    figure: 'postgres.beyondLease',
    aim: 5,
    ...atMost,
    unit: ' s',
  },
  ...(['sqlite', 'postgres'] as const).flatMap((store) => [
    {
      what: `${store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}: RSS at 64 connections at the end of the load`,
      suite: 'memory',
      figure: `${store}.rss`,
      aim: 150,
      ...atMost,
      unit: ' MB',
    } as const,
    {
      what: `${store === 'sqlite' ? 'SQLite' : 'PostgreSQL'}: growth of RSS in the second half of the load`,
      suite: 'memory',
      figure: `${store}.slope`,
      aim: 1,
      ...atMost,
      unit: ' % a minute',
    } as const,
  ]),
  {
    what: 'WAL per event, record and process, 500-byte body',
    suite: 'store',
    figure: 'wal',
    aim: 1.7,
    ...atMost,
    unit: ' kB',
  },
]

export function reached(results: readonly SuiteResult[]): Reached[] {
  return aims.map((aim) => {
    const figures = results.find(({ name }) => name === aim.suite)?.figures ?? {}
    const value = figures[aim.figure] ?? Number.NaN
    const rows = figures[`${aim.figure.split('.')[0]}.rows`]
    const what = rows ? aim.what.replace('the largest log', `${rows.toLocaleString('en-US')} rows`) : aim.what
    const passes = aim.is === 'at least' ? value >= aim.aim : value <= aim.aim
    const result = !Number.isFinite(value) ? 'not measured' : passes ? 'pass' : 'fail'
    return { ...aim, what, value, result }
  })
}
