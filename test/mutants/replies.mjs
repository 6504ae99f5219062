/** Broken builds of `reply`: answers that differ, or that show too much. */

const replies = 'test/processing/reply.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const replyMutants = [
  {
    name: 'reply without a transaction',
    promise: 'Reply, effect and outcome are one commit.',
    changes: [
      {
        file: 'src/processing/settle.ts',
        find: 'watermarks.length === 0 && !isAnswered',
        replace: 'watermarks.length === 0',
      },
    ],
    tests: [{ file: replies, title: 'with and without ctx.tx' }],
  },
  {
    name: 'reply of memory only',
    promise: 'Every duplicate gets the reply.',
    changes: [
      { file: 'src/processing/inline.ts', find: '(await store.replies?.get(key)) ?? null', replace: 'null' },
    ],
    tests: [{ file: replies, title: 'wait for its handler and get its reply' }],
  },
  {
    name: 'reply for other content',
    promise: 'A delivery with other content under the id does not get the reply.',
    changes: [
      {
        file: 'src/processing/inline.ts',
        find: "if (verdict.status === 'duplicate' && !verdict.equal) return { status, reply: null }",
        replace: '',
      },
    ],
    tests: [{ file: replies, title: 'is a conflict and does not get the reply' }],
  },
  {
    name: 'reply without encryption',
    promise: 'With encryption the log holds no readable reply.',
    changes: [
      { file: 'src/encryption/encrypted.ts', find: 'sealReply(ring, claimed, reply)', replace: 'reply' },
    ],
    tests: [{ file: replies, title: 'with encryption the log holds no readable reply' }],
  },
  {
    name: 'reply for one of several events',
    promise: 'A reply that no sender could get is an error.',
    changes: [
      { file: 'src/processing/reply.ts', find: '!isWholeDelivery(source, claimed)', replace: 'false' },
    ],
    tests: [{ file: replies, title: 'of one of several events' }],
  },
]
