/** Broken builds about references: a person who is not found, or more than the handler has committed. */
import { onPostgres, onSqlite } from './mutant.mjs'

/** @type {import('./mutant.mjs').Mutant[]} */
export const referenceMutants = [
  {
    name: 'erasure by the first reference only',
    promise: 'An erasure finds every event that names the person.',
    changes: [
      {
        file: 'src/stores/postgres/erase.ts',
        find: 'where r.value = $1 and',
        replace: 'where false and r.value = $1 and',
      },
      {
        file: 'src/stores/sqlite/archive.ts',
        find: 'where value = ?1 and',
        replace: 'where false and value = ?1 and',
      },
    ],
    tests: [
      onSqlite('an erasure goes by any reference'),
      onPostgres('an erasure goes by any reference'),
      { file: 'test/retention/erasure.test.ts', title: 'nothing is left in the tables' },
    ],
  },
  {
    name: 'references of other content dropped',
    promise: 'An erasure finds other content that is kept beside an event.',
    changes: [
      {
        file: 'src/stores/postgres/duplicates.ts',
        find: 'rows !== null && held.keeps',
        replace: 'rows === null && held.keeps',
      },
      {
        file: 'src/stores/sqlite/conflicts.ts',
        find: 'if (rows !== null) log.run(noteReferences',
        replace: 'if (rows === null) log.run(noteReferences',
      },
    ],
    tests: [
      onSqlite('an erasure finds other content'),
      onPostgres('an erasure finds other content'),
      { file: 'test/retention/erasure.test.ts', title: 'nothing is left in the tables' },
    ],
  },
  {
    name: 'references of a failed attempt kept',
    promise: 'References that a handler has added are written only when its attempt does not fail.',
    changes: [
      {
        file: 'src/stores/postgres/settle.ts',
        find: "rows is not null and kind <> 'failed'",
        replace: 'rows is not null',
      },
      {
        file: 'src/stores/sqlite/settle.ts',
        find: "if (outcome.kind !== 'failed') addReferences",
        replace: 'addReferences',
      },
    ],
    tests: [onSqlite('unless the attempt has failed'), onPostgres('unless the attempt has failed')],
  },
  {
    name: 'references of an attempt that was rolled back',
    promise: 'References that a handler has added commit with its writes.',
    changes: [
      {
        file: 'src/processing/settle.ts',
        find: 'function withoutReferences({ references: _, ...prepared }: PreparedEvent)',
        replace: 'function withoutReferences(prepared: PreparedEvent)',
      },
    ],
    tests: [{ file: 'test/processing/references.test.ts', title: 'became stale while its handler ran' }],
  },
  {
    name: 'lane by the first reference, whatever the label',
    promise: 'Events of one customer run one at a time, where it is asked for.',
    changes: [
      {
        file: 'src/references.ts',
        find: 'if (order === ownReference) return reference',
        replace: 'if (order != null) return reference',
      },
    ],
    tests: [
      { file: 'test/processing/references.test.ts', title: 'events of one customer run one at a time' },
    ],
  },
]
