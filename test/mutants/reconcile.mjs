/** Broken builds of reconcile: events that are left out, handled twice or reported wrongly, and a key that leaks. */
import { onPostgres, onSqlite } from './mutant.mjs'

const compared = 'test/reconcile/reconcile.test.ts'
const scheduled = 'test/reconcile/schedule.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const reconcileMutants = [
  {
    name: 'a backfill with a content hash',
    promise: 'A body that the API gives may differ from that of a delivery: no conflict.',
    changes: [
      {
        file: 'src/reconcile/recover.ts',
        find: '({ ...one, contentHash: null, guardHash: null })',
        replace: '({ ...one, contentHash: new Uint8Array(32), guardHash: null })',
      },
    ],
    tests: [{ file: compared, title: 'a delivery that comes after the backfill is a duplicate' }],
  },
  {
    name: 'a backfill that does not say so',
    promise: 'An event that was trusted through the API key says so.',
    changes: [
      {
        file: 'src/stores/postgres/record-batch.ts',
        find: 'texts(deliveries.map(originOf))',
        replace: 'texts(deliveries.map(() => null))',
      },
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: "delivery.origin === 'delivery' ? null : delivery.origin",
        replace: 'null',
      },
    ],
    tests: [onSqlite('a backfilled event says so'), onPostgres('a backfilled event says so')],
  },
  {
    name: 'an event of this moment is missing',
    promise: 'An event that may still be on its way is not missing yet.',
    changes: [{ file: 'src/reconcile/window.ts', find: 'now - GRACE_MS', replace: 'now' }],
    tests: [{ file: compared, title: 'an event of the last five minutes is not missing yet' }],
  },
  {
    name: 'missing events in the order of the list',
    promise: 'Backfilled events of one reference are handled in the order they happened.',
    changes: [
      {
        file: 'src/reconcile/recover.ts',
        find: 'missing.toSorted((a, b) => a.occurredAt - b.occurredAt)',
        replace: '[...missing]',
      },
    ],
    tests: [{ file: compared, title: 'backfilled events keep the order of their reference' }],
  },
  {
    name: 'events that the endpoint does not get are missing',
    promise: 'What the endpoint does not subscribe to is not recorded.',
    changes: [
      {
        file: 'src/reconcile/run.ts',
        find: 'if (this.#expected!.has(event)) expected.push(event)',
        replace: 'if (this.#expected) expected.push(event)',
      },
    ],
    tests: [{ file: compared, title: 'what the endpoint does not subscribe to is not missing' }],
  },
  {
    name: 'an event that came late is extra',
    promise: 'Only an event that the sender does not know is extra.',
    changes: [{ file: 'src/reconcile/extra.ts', find: 'if (await reader.has(id)) continue', replace: '' }],
    tests: [{ file: compared, title: 'one that came late is not' }],
  },
  {
    name: 'two runs of a source at once',
    promise: 'One process at a time compares a source.',
    changes: [
      {
        file: 'src/reconcile/reconcile.ts',
        find: 'if (!dryRun && lease === null)',
        replace: 'if (!dryRun && lease === undefined)',
      },
    ],
    tests: [{ file: compared, title: 'the process that runs has the source for itself' }],
  },
  {
    name: 'a schedule that goes back behind the first event',
    promise:
      'Events from before the log were handled by another program, and are not recorded by themselves.',
    changes: [
      {
        file: 'src/reconcile/schedule.ts',
        find: 'Math.max(beginOf(runs, now - windowMs) - OVERLAP_MS, notBefore)',
        replace: 'beginOf(runs, now - windowMs) - OVERLAP_MS',
      },
    ],
    tests: [{ file: scheduled, title: 'the first run begins with the first event of the log' }],
  },
  {
    name: 'a continued run that forgets what it has recorded',
    promise: 'The report of a run whose process died is exact.',
    changes: [
      {
        file: 'src/reconcile/run.ts',
        find: 'else if (this.#unreported.has(event.id)) tally.recovered(event.type)',
        replace:
          'else if (this.#unreported.has(event.id) && tally.unsubscribed < 0) tally.recovered(event.type)',
      },
    ],
    tests: [{ file: scheduled, title: 'a run whose process died is continued' }],
  },
  {
    name: 'an API key that goes wherever a page points',
    promise: 'The key of a sender is sent to the origin of its API only.',
    changes: [
      {
        file: 'src/verification/list/api.ts',
        find: 'if (url.origin !== new URL(base).origin)',
        replace: "if (url.origin === '')",
      },
    ],
    tests: [{ file: 'test/providers/lists/api.test.ts', title: 'a page of another origin is not asked for' }],
  },
]
