/**
 * The parts of the hot core that `npm run mutants:score` can run on, each with the tests that are to notice a change in
 * it. Chosen so that a part takes minutes: no test here needs a server or starts a process.
 */
const intake = ['test/intake/{answers,key-unavailable,steps}.test.ts', 'test/processing/inline.test.ts']
const processing = ['test/processing/{attempt,share,settle-together,order,leases}.test.ts']

/** @type {Record<string, { files: string[], tests: string[] }>} */
export const parts = {
  schemes: {
    files: [
      'verification/schemes/{hmac,keyed-digest,signature,signed,timestamp,token}.js',
      'verification/delivery/body-formats.js',
    ],
    tests: [
      'test/providers/{engine,exact-bytes,keyed-digest,options,slices,unknown-senders}.test.ts',
      'test/fuzz/bodies.test.ts',
    ],
  },
  'group-commit': { files: ['intake/group-commit.js'], tests: ['test/intake/group-commit.test.ts'] },
  intake: { files: ['intake/{intake,receive}.js'], tests: intake },
  fold: { files: ['stores/postgres/record-batch.js'], tests: ['test/stores/fold.test.ts'] },
  gate: { files: ['spool/gate.js'], tests: ['test/spool/gate.test.ts'] },
  drain: { files: ['spool/drain.js'], tests: ['test/spool/drain.test.ts'] },
  settle: { files: ['processing/settle.js'], tests: ['test/processing/settle.test.ts'] },
  leases: { files: ['processing/leases.js'], tests: ['test/processing/leases.test.ts'] },
  dispatch: { files: ['processing/dispatch.js'], tests: processing },
  attempt: { files: ['processing/attempt.js'], tests: processing },
}

const chosen = parts[process.env.HOOKONCE_SCORE ?? 'schemes']
if (!chosen) throw new Error(`HOOKONCE_SCORE is one of: ${Object.keys(parts).join(', ')}`)
export const part = chosen
