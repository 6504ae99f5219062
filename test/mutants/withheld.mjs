/** Broken builds that withhold events, repeat effects that have ended, or let somebody else decide about an event. */
import { onPostgres, onSqlite } from './mutant.mjs'

/** @type {import('./mutant.mjs').Mutant[]} */
export const withheldMutants = [
  {
    name: 'places are not lent',
    promise: 'A handler that hangs does not hold the places of the others.',
    changes: [
      {
        file: 'src/processing/places.ts',
        find: 'return now - startedAt > LONG_MS',
        replace: 'return now - startedAt > 1_000 * LONG_MS',
      },
    ],
    tests: [
      {
        file: 'test/processing/places.test.ts',
        title: 'two handlers that hang do not keep a third one waiting',
      },
    ],
  },
  {
    name: 'unhandled although another process handles it',
    promise: 'In a deploy that adds a handler, its events are left to the processes that have it.',
    changes: [
      {
        file: 'src/processing/elsewhere.ts',
        find: '(isHandled ? elsewhere : nowhere)',
        replace: '(nowhere)',
      },
    ],
    tests: [
      { file: 'test/processing/deploy.test.ts', title: 'a process that lacks a handler leaves its events' },
    ],
  },
  {
    name: 'no sweep of events that wait for nothing',
    promise: 'A clock that is set back does not withhold events.',
    changes: [
      {
        file: 'src/stores/postgres/sweep.ts',
        find: 'if (performance.now() < nextAt || sources.length === 0) return',
        replace: 'if (nextAt >= 0) return',
      },
    ],
    tests: [
      {
        file: 'test/stores/postgres-lanes.test.ts',
        title: 'events recorded before the clock was set back an hour',
      },
    ],
  },
  {
    name: 'lane promoted in the snapshot of the handler',
    promise: 'A lane goes on whatever isolation level its handler asks for.',
    changes: [
      {
        file: 'src/stores/postgres/transaction.ts',
        find: 'if (seqs.length > 0) await promote(this.#db.query, seqs)',
        replace: 'if (seqs.length < 0) await promote(this.#db.query, seqs)',
      },
      {
        file: 'src/stores/postgres/sweep.ts',
        find: 'if (performance.now() < nextAt || sources.length === 0) return',
        replace: 'if (nextAt >= 0) return',
      },
    ],
    tests: [
      { file: 'test/stores/postgres-lanes.test.ts', title: 'a lane goes on when its handler asks for' },
    ],
  },
  {
    name: 'effect that still runs called again',
    promise: 'A later attempt joins an effect that still runs in its process.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: 'let call = runningCall(calls, key)',
        replace: 'let call = calls.size < 0 ? runningCall(calls, key) : null',
      },
    ],
    tests: [
      { file: 'test/processing/overtime.test.ts', title: 'a later attempt joins an effect that still runs' },
    ],
  },
  {
    name: 'late result of an effect discarded',
    promise: 'The result of an effect that ends after its attempt is recorded.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: '.effect({ ...step, late: true })',
        replace: '.effect(step)',
      },
    ],
    tests: [
      {
        file: 'test/processing/overtime.test.ts',
        title: 'the result of an effect that ends between two attempts is recorded',
      },
    ],
  },
  {
    name: 'session of a handler handed on',
    promise: 'What a handler does to its connection does not reach the next handler.',
    changes: [
      {
        file: 'src/stores/postgres/transaction.ts',
        find: '    this.#changed = true\n',
        replace: '    this.#changed = false\n',
      },
    ],
    tests: [{ file: 'test/stores/handler-session.test.ts', title: 'does not reach the next handler' }],
  },
  {
    name: 'commit in the text of a handler',
    promise: 'A handler cannot commit its effects without the outcome.',
    changes: [
      {
        file: 'src/stores/postgres/connection/handler-sql.ts',
        find: 'boundary: boundaryOf(ANYWHERE.exec(bare))',
        replace: 'boundary: boundaryOf(FIRST.exec(bare))',
      },
    ],
    tests: [{ file: 'test/stores/handler-session.test.ts', title: 'commit' }],
  },
  {
    name: 'begin that fails counts as an attempt',
    promise: 'Faults of the store use up no attempt.',
    changes: [
      {
        file: 'src/processing/session.ts',
        find: "this.#unavailable = isHookonceError(error) ? error : new HookonceError('UNEXPECTED', {}, error)",
        replace: 'this.#unavailable = null',
      },
    ],
    tests: [{ file: 'test/processing/store-faults.test.ts', title: 'uses up no attempt' }],
  },
  {
    name: 'run without a payload on SQLite',
    breaksModel: true,
    promise: 'An event without its payload is neither retried nor replayed.',
    changes: [
      {
        file: 'src/stores/shared/operate.ts',
        find: "if (verb !== 'ignore' && !hasPayload) return",
        replace: "if (verb === 'ignore' && hasPayload && !hasPayload) return",
      },
    ],
    tests: [onSqlite('an event without its payload is neither retried')],
  },
  {
    name: 'run without a payload on PostgreSQL',
    breaksModel: true,
    promise: 'An event without its payload is neither retried nor replayed.',
    changes: [
      {
        file: 'src/stores/postgres/operate.ts',
        find: 'end as "hasPayload"',
        replace: 'end or true as "hasPayload"',
      },
    ],
    tests: [onPostgres('an event without its payload is neither retried')],
  },
  {
    name: 'restore of bytes that were not archived',
    promise: 'An archive is restored only from the bytes that the log has archived.',
    changes: [
      {
        file: 'src/retention/archive/read.ts',
        find: 'receipts.find(({ sha256 }) => sha256 === object.sha256)',
        replace: 'receipts.find(() => true)',
      },
    ],
    tests: [
      {
        file: 'test/retention/archive.test.ts',
        title: 'an object that was changed together with its manifest',
      },
    ],
  },
  {
    name: 'ciphertext not bound to the content',
    promise: 'The ciphertext of another delivery is not handed out as the event.',
    changes: [
      {
        file: 'src/encryption/seal.ts',
        find: 'id === eventId && (content === contentHash) !== isConflict',
        replace: 'id === eventId',
      },
    ],
    tests: [
      { file: 'test/encryption/encryption.test.ts', title: 'the ciphertext of a delivery that conflicts' },
    ],
  },
  {
    name: 'handshake signs any text',
    promise: 'A stranger cannot get a signature for a delivery.',
    changes: [
      {
        file: 'src/verification/define/handshake.ts',
        find: 'if (scheme.mac === undefined || !token.test(text)) return null',
        replace: 'if (scheme.mac === undefined) return null',
      },
    ],
    tests: [{ file: 'test/providers/handshakes.test.ts', title: 'a handshake that signs a text for anyone' }],
  },
  {
    name: 'cache bound to a log of a second ago',
    promise: 'An event that a restored database lacks is not answered from the cache.',
    changes: [
      { file: 'src/seen/cache.ts', find: 'const NAME_MS = 20\n', replace: 'const NAME_MS = 1_000\n' },
    ],
    tests: [{ file: 'test/seen/recall.test.ts', title: 'the log is named again for a delivery' }],
  },
  {
    name: 'spool reports a failure that is over',
    promise: 'The status of the spool says that its disk is full only while it is.',
    changes: [{ file: 'src/spool/spool.ts', find: 'if (!canWrite()) await tryAgain()', replace: '' }],
    tests: [
      { file: 'test/spool/stuck.test.ts', title: 'the status says that a disk is full only while it is' },
    ],
  },
  {
    name: 'started after its stop',
    promise: 'After stop has resolved, no handler runs.',
    changes: [
      {
        file: 'src/inbox/lazy-store.ts',
        find: "if (refuses) return Promise.reject(new HookonceError('STORE_CLOSED'))",
        replace: '',
      },
    ],
    tests: [{ file: 'test/processing/start-stop.test.ts', title: 'start after stop is refused' }],
  },
  {
    name: 'opened after its stop',
    promise: 'After stop has resolved, no handler runs.',
    changes: [
      {
        file: 'src/inbox/processing.ts',
        find: 'if (started && !store.refuses) await begin()',
        replace: 'if (started) await begin()',
      },
      { file: 'src/inbox/lazy-store.ts', find: 'tooLate = !opened', replace: 'tooLate = false' },
    ],
    tests: [{ file: 'test/processing/start-stop.test.ts', title: 'a store that opens after stop' }],
  },
  {
    name: 'a lost lease begins again',
    promise: 'An event whose lease is lost does not begin another session.',
    changes: [
      { file: 'src/processing/leases.ts', find: 'event.isLost = true', replace: 'event.isLost = false' },
    ],
    tests: [{ file: 'test/processing/leases.test.ts', title: 'a lease that was lost while its session ran' }],
  },
  {
    name: 'events beside a conflict are left',
    promise: 'The other events of a delivery with a conflict are handled.',
    changes: [
      {
        file: 'src/intake/intake.ts',
        find: "(receipt.httpStatus < 400 || receipt.status === 'conflict')",
        replace: '(receipt.httpStatus < 400)',
      },
    ],
    tests: [{ file: 'test/intake/steps.test.ts', title: 'beside a conflict that is rejected' }],
  },
]
