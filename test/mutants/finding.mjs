/** Broken builds in which an operator does not find an event, or sees what is not for the role. */
import { onPostgres, onSqlite } from './mutant.mjs'

/** @type {import('./mutant.mjs').Mutant[]} */
export const findingMutants = [
  {
    name: 'search in payloads at one depth only',
    promise: 'A search with ** finds a value at any depth of a payload.',
    changes: [
      {
        file: 'src/server/admin/payload-search.ts',
        find: 'for (const inner of Object.values(one).reverse()) waiting.push(inner)',
        replace: 'scalars.push(...Object.values(one))',
      },
    ],
    tests: [
      { file: 'test/server/dashboard-api.test.ts', title: 'payloads are searched by a JSON path' },
      { file: 'test/browser/finding.test.ts', title: 'customer jane@example.com' },
    ],
  },
  {
    name: 'a token in an example',
    promise: 'A signed sample is shown only where the signature fits no other body.',
    changes: [
      {
        file: 'src/server/admin/routes/source-details.ts',
        find: 'if (!mayShow(source)) return { curl: null }',
        replace: '',
      },
    ],
    tests: [{ file: 'test/server/dashboard-api.test.ts', title: 'a signed sample as curl' }],
  },
  {
    name: 'place in the code is not stored',
    promise: 'A failed attempt keeps the line of code that threw.',
    changes: [
      {
        file: 'src/stores/sqlite/settle.ts',
        find: "(outcome.kind === 'failed' && outcome.place) || null",
        replace: 'null',
      },
      {
        file: 'src/stores/postgres/settle.ts',
        find: "(outcome.kind === 'failed' && outcome.place) || null",
        replace: 'null',
      },
    ],
    tests: [onSqlite('a failed attempt keeps the place'), onPostgres('a failed attempt keeps the place')],
  },
  {
    name: 'place in the code for everybody',
    promise: 'Viewers see no error and no line of code.',
    changes: [
      {
        file: 'src/server/admin/views.ts',
        find: '{ detail: null, place: null }',
        replace: '{ detail: null }',
      },
    ],
    tests: [{ file: 'test/server/roles.test.ts', title: 'sees neither the error of an attempt' }],
  },
]
