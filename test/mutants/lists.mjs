/** Broken builds of the lists of senders: an event that the sender lists and that reconcile does not see. */

const payments = 'test/providers/lists/payments.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const listMutants = [
  {
    name: 'a list that ends with a page that is not full',
    promise: 'Every event of the range that the sender lists is compared with the log.',
    changes: [
      {
        file: 'src/verification/list/paged.ts',
        find: 'if (next === null ||',
        replace: 'if (next === null || items.length < 100 ||',
      },
    ],
    tests: [{ file: payments, title: 'reads page after page' }],
  },
  {
    name: 'a listed event under another name than its delivery',
    promise: 'A listed event has the name that its delivery has.',
    changes: [
      {
        file: 'src/providers/lists/lithic.ts',
        find: "event.text('token')",
        replace: "event.text('created')",
      },
    ],
    tests: [{ file: payments, title: 'gives each event the name' }],
  },
]
