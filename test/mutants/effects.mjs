/** Broken builds of `ctx.once` with `lookup` and `keyLives`: effects that happen twice. */
import { onPostgres, onSqlite } from './mutant.mjs'

const payments = 'test/processing/payments.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const effectMutants = [
  {
    name: 'lookup not asked',
    promise: 'Before an unknown effect is repeated, the other service is asked.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: 'if (lookup) return this.#lookUp(name, lookup)',
        replace: 'if (lookup) return null',
      },
    ],
    tests: [{ file: payments, title: 'with lookup nothing is charged twice' }],
  },
  {
    name: 'effect forgotten after a lost answer',
    promise: 'An error of an effect with lookup does not prove that it did not happen.',
    changes: [{ file: 'src/processing/effect.ts', find: 'if (keepsUnknown) throw error', replace: '' }],
    tests: [{ file: payments, title: 'is asked after a lost answer' }],
  },
  {
    name: 'forgotten key repeated',
    promise: 'After keyLives an effect is not repeated blindly.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: 'keyLives !== undefined && ageMs >= msOf(keyLives, 0)',
        replace: 'keyLives !== undefined && ageMs < 0',
      },
    ],
    tests: [{ file: payments, title: 'after it, a lost answer makes a dead letter' }],
  },
  {
    name: 'record of an effect rolled back',
    promise: 'The record that an effect was begun outlives a rollback.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: 'if (this.#store.singleWriter && this.#session.transaction)',
        replace: 'if (this.#store.name === effect)',
      },
    ],
    tests: [{ file: payments, title: 'on a store with one writer' }],
  },
  {
    name: 'decision about an effect that is known (SQLite)',
    promise: 'A person decides only about an effect whose end is unknown.',
    changes: [
      {
        file: 'src/stores/sqlite/keys.ts',
        find: "where seq = ?1 and name = ?2 and state = 'started'`\n\n",
        replace: 'where seq = ?1 and name = ?2`\n\n',
      },
    ],
    tests: [onSqlite('an operator cannot decide about an effect whose end is known')],
  },
  {
    name: 'decision about an effect that is known (PostgreSQL)',
    promise: 'A person decides only about an effect whose end is unknown.',
    changes: [
      {
        file: 'src/stores/postgres/keys.ts',
        find: 'where seq = $1::bigint and name = $2 and finished_at is null returning 1`\n\nconst dropUnknown',
        replace: 'where seq = $1::bigint and name = $2 returning 1`\n\nconst dropUnknown',
      },
    ],
    tests: [onPostgres('an operator cannot decide about an effect whose end is known')],
  },
  {
    name: 'age of an effect from its last start',
    promise: 'keyLives counts from the first start of an effect.',
    changes: [
      {
        file: 'src/stores/postgres/keys.ts',
        find: 'extract(epoch from hookonce.clock() - e.started_at) * 1000 as age_ms',
        replace: '0 as age_ms',
      },
    ],
    tests: [onPostgres('the age of an unknown effect counts from its first start')],
  },
]
