/** Broken builds of intake and of the record verb: events lost, acknowledged too early, or recorded twice. */
import { onPostgres, onSqlite } from './mutant.mjs'

/** @type {import('./mutant.mjs').Mutant[]} */
export const recordMutants = [
  {
    name: 'no unique key on SQLite',
    breaksModel: true,
    promise: 'An event is recorded once, whoever delivers it how often.',
    changes: [
      {
        file: 'src/stores/sqlite/schema.ts',
        find: 'withheld integer,\n  unique (source, event_id)\n) strict;',
        replace:
          'withheld integer\n) strict;\ncreate index hookonce_events_once on hookonce_events (source, event_id);',
      },
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: "'pending')\n  on conflict (source, event_id) do nothing`",
        replace: "'pending')`",
      },
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: '?, ?, ?, ?)\n  on conflict (source, event_id) do nothing`',
        replace: '?, ?, ?, ?)`',
      },
    ],
    tests: [onSqlite('duplicates inside one batch are detected'), onSqlite('64 concurrent writers')],
  },
  {
    name: 'no unique key on PostgreSQL',
    breaksModel: true,
    promise: 'An event is recorded once, whoever delivers it how often.',
    changes: [
      {
        file: 'src/stores/postgres/schema.ts',
        find: 'reason text,\n  constraint events_once unique (source, event_id)\n);',
        replace: 'reason text\n);\ncreate index events_once on hookonce.events (source, event_id);',
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: 'event_id, n\n  on conflict (source, event_id) do nothing',
        replace: 'event_id, n',
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: 'event_id\n  on conflict (source, event_id) do nothing',
        replace: 'event_id',
      },
    ],
    tests: [onPostgres('64 concurrent writers')],
  },
  {
    name: 'dedupe within a period only',
    promise: 'A duplicate is found however much later it comes, also across the border of a partition.',
    changes: [
      {
        file: 'src/stores/postgres/schema.ts',
        find: 'constraint events_once unique (source, event_id)',
        replace: 'constraint events_once unique (source, event_id, received_at)',
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: 'event_id, n\n  on conflict (source, event_id) do nothing',
        replace: 'event_id, n\n  on conflict (source, event_id, received_at) do nothing',
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: 'event_id\n  on conflict (source, event_id) do nothing',
        replace: 'event_id\n  on conflict (source, event_id, received_at) do nothing',
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: '    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1',
        replace:
          "    select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id and e.received_at > hookonce.clock() - interval '1 day' limit 1",
      },
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: '\n  select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id limit 1',
        replace:
          "\n  select * from hookonce.events e where e.source = i.source and e.event_id = i.event_id and e.received_at > hookonce.clock() - interval '1 day' limit 1",
      },
    ],
    tests: [
      {
        file: 'test/retention/retain.test.ts',
        title: 'the same id is a duplicate after its payload is gone',
      },
    ],
  },
  {
    name: 'acknowledged before the commit',
    promise: 'A delivery is answered only after its commit.',
    changes: [
      {
        file: 'src/intake/group-commit.ts',
        find: 'const recordings = await next.record(batch.map((waiter) => waiter.delivery))',
        replace:
          "next.record(batch.map((waiter) => waiter.delivery)).catch(() => {})\n      const recordings: Recording[] = batch.map(({ delivery }) => delivery.events.map(() => ({ status: 'recorded' as const, seq: 1, state: 'pending' as const })))",
      },
    ],
    tests: [
      { file: 'test/intake/group-commit.test.ts', title: 'answers nothing before its commit has ended' },
    ],
  },
  {
    name: 'acknowledged by the cache alone',
    promise:
      'Nothing but the log (or the spool) acknowledges a new event: a cache that is ahead of it does not.',
    changes: [
      {
        file: 'src/inbox/recording-path.ts',
        find: 'const known = logId && (await cache.ask(logId, source, delivery))',
        replace:
          "const known = logId && (await cache.ask(logId, source, delivery))\n    if (logId && !known) cache.add(logId, source, delivery, delivery.events.map(() => ({ status: 'recorded', seq: 1, state: 'pending' })))",
      },
    ],
    tests: [{ file: 'test/seen/recall.test.ts', title: 'a delivery whose commit failed is not known' }],
  },
  {
    name: 'synchronous lowered to normal',
    promise: 'A commit on SQLite is on disk when it returns.',
    changes: [
      {
        file: 'src/stores/sqlite/connection.ts',
        find: "db.exec('pragma synchronous = full')",
        replace: "db.exec('pragma synchronous = normal')",
      },
      {
        file: 'src/stores/sqlite/connection.ts',
        find: "if (mode === 'wal' && synchronous === 2) return",
        replace: "if (mode === 'wal') return",
      },
    ],
    tests: [{ file: 'test/stores/durability.test.ts', title: 'on SQLite the write-ahead log is flushed' }],
  },
  {
    name: 'database file opened and closed beside SQLite',
    promise: 'This process keeps the locks of SQLite, so that no other program removes its write-ahead log.',
    changes: [
      {
        file: 'src/stores/sqlite/database-file.ts',
        find: 'if (existsSync(place)) return',
        replace: "if (existsSync(place)) return closeSync(openSync(place, 'r'))",
      },
    ],
    tests: [
      {
        file: 'test/stores/other-programs.test.ts',
        title: 'with two stores in one process, of which one was opened later',
      },
    ],
  },
  {
    name: 'a replaced database file is not noticed',
    promise: 'No event is acknowledged into a file that has no name any more.',
    changes: [
      {
        file: 'src/stores/sqlite/database-file.ts',
        find: 'if (!lost) return\n',
        replace: 'return\n',
      },
    ],
    tests: [
      {
        file: 'test/stores/other-programs.test.ts',
        title: 'takes the write-ahead log away after a plain read',
      },
    ],
  },
  {
    name: 'recorded before it is verified',
    promise: 'Nothing of a delivery that does not pass verification is stored.',
    changes: [
      {
        file: 'src/intake/intake.ts',
        find: 'const early = receive(source,',
        replace:
          'await Promise.resolve()\n    .then(() => deps.recorder.record(newDelivery(name, source, delivery, source.identify(delivery), after.laneOf), source, span))\n    .catch(() => {})\n  const early = receive(source,',
      },
    ],
    tests: [
      { file: 'test/intake/secrecy.test.ts', title: 'a canary in the secret' },
      { file: 'test/server/end-to-end.test.ts', title: 'stores nothing for them' },
    ],
  },
  {
    name: '401 for an outage of the key server',
    promise: 'An outage on our side is answered 503, so that the sender tries again.',
    changes: [
      {
        file: 'src/intake/intake.ts',
        find: "reason === 'key_unavailable' ? failureAnswer(503, reason, 'unavailable') : failureAnswer(401, reason)",
        replace: 'failureAnswer(401, reason)',
      },
    ],
    tests: [{ file: 'test/intake/key-unavailable.test.ts', title: 'is 503 with Retry-After' }],
  },
  {
    name: 'an unwritable log answers 400',
    promise: 'A delivery that could not be recorded is answered 503, never with a final refusal.',
    changes: [
      {
        file: 'src/intake/intake.ts',
        find: "failureAnswer(503, observer.storeFailed(name, error), 'unavailable')",
        replace: "failureAnswer(400, observer.storeFailed(name, error), 'invalid')",
      },
    ],
    tests: [{ file: 'test/seen/recall.test.ts', title: 'a delivery whose commit failed is not known' }],
  },
  {
    name: 'two keys joined into one text',
    promise: 'The key of an event is two values: the source and the id.',
    changes: [
      {
        file: 'src/stores/postgres/record-batch.ts',
        find: 'let ids = seen.get(source)',
        replace: "let ids = seen.get('')",
      },
      {
        file: 'src/stores/postgres/record-batch.ts',
        find: 'seen.set(source, ids)',
        replace: "seen.set('', ids)",
      },
    ],
    tests: [onPostgres('the same id in two sources is two events')],
  },
  {
    name: 'quadratic batch',
    promise: 'The work for a batch grows with its size, not with its square.',
    changes: [
      {
        file: 'src/stores/postgres/record-batch.ts',
        find: 'const first = ids.get(event.event.id)',
        replace:
          'const at = firsts.findIndex((known) => known.from.source === source && known.event.id === event.event.id)\n    const first = at < 0 ? undefined : at',
      },
    ],
    tests: [{ file: 'test/stores/record-growth.test.ts', title: 'the work of folding a batch' }],
  },
  {
    name: 'other content under a known id is equal',
    promise: 'Other content under a known id is a conflict: counted and reported.',
    changes: [
      {
        file: 'src/stores/sqlite/record-known.ts',
        find: 'equal: row.equal === 1,',
        replace: 'equal: true,',
      },
    ],
    tests: [onSqlite('the same id with other bytes is a conflict')],
  },
  {
    name: 'a decided conflict opens again',
    promise: 'A conflict that a person decided about stays decided when its sender retries.',
    changes: [
      {
        file: 'src/stores/sqlite/conflicts.ts',
        find: 'do update set number = excluded.number,',
        replace: 'do update set decided_at = null, number = excluded.number,',
      },
    ],
    tests: [onSqlite('content that was decided about does not open the conflict again')],
  },
  {
    name: 'a decided content hides an open one on SQLite',
    promise: 'An open conflict is listed and acted on, whatever was decided before.',
    changes: [
      {
        file: 'src/stores/sqlite/swap-content.ts',
        find: "'c.decided_at is null desc, c.number desc'",
        replace: "'c.number desc'",
      },
    ],
    tests: [onSqlite('an open content stays in sight')],
  },
  {
    name: 'a decided content hides an open one on PostgreSQL',
    promise: 'An open conflict is listed and acted on, whatever was decided before.',
    changes: [
      {
        file: 'src/stores/postgres/work.ts',
        find: "'c.decided_at is null desc, c.number desc'",
        replace: "'c.number desc'",
      },
    ],
    tests: [onPostgres('an open content stays in sight')],
  },
  {
    name: 'a decision about content that was decided about',
    promise: 'A click decides about the content that was shown, or about nothing.',
    changes: [
      {
        file: 'src/stores/shared/operate.ts',
        find: "if (typeof conflict === 'string' && !isOpen) return 'CONFLICT_CHANGED'",
        replace: '',
      },
    ],
    tests: [onSqlite('an action that names a content by its hash')],
  },
  {
    name: 'takeover without its guard',
    promise: 'The signed content of a takeover is recognised under a third id.',
    changes: [
      {
        file: 'src/stores/sqlite/conflicts.ts',
        find: 'if (sameAs === null) registerGuard(log, source, event)',
        replace: '',
      },
    ],
    tests: [onSqlite('brings its own type, reference and guard')],
  },
  {
    name: 'a replay takes over',
    promise: 'Content that is known under another id does not take over a withheld one.',
    changes: [
      {
        file: 'src/stores/shared/judge.ts',
        find: 'return sameAs === null || contentGuards[contentGuard].handles',
        replace: "return sameAs === null || contentGuards[contentGuard].handles || sameAs !== ''",
      },
    ],
    tests: [onSqlite('content that is itself known'), onPostgres('content that is itself known')],
  },
  {
    name: 'a retried event stays withheld on PostgreSQL',
    promise: 'Only an event that was never handled is taken over.',
    changes: [
      {
        file: 'src/stores/postgres/operate.ts',
        find: 'set parked = null, withheld = null,',
        replace: 'set parked = null,',
      },
    ],
    tests: [onPostgres('only hookonce withholds')],
  },
  {
    name: 'guard without its event',
    promise: 'The guard of an event that another process recorded first is not left behind.',
    changes: [
      {
        file: 'src/stores/postgres/record-sql.ts',
        find: 'where guard_hash is not null and same_as is null and seq not in (select seq from added)',
        replace: 'where false',
      },
    ],
    tests: [{ file: 'test/stores/record-faults.test.ts', title: 'is not left behind' }],
  },
  {
    name: 'one content refuses its neighbours',
    promise: 'Other content that cannot be kept refuses its own delivery only.',
    changes: [
      {
        file: 'src/stores/sqlite/record.ts',
        find: 'return isRowFailure(error) || isHookonceError(error)',
        replace: 'return isRowFailure(error) && isHookonceError(error)',
      },
    ],
    tests: [
      { file: 'test/stores/record-faults.test.ts', title: 'one content that cannot be kept refuses its own' },
    ],
  },
  {
    name: 'the spool forgets before the log has it',
    promise: 'A spooled delivery leaves the spool only after the log has it.',
    changes: [
      {
        file: 'src/spool/drain.ts',
        find: 'const result = await this.#recordRows(rows)',
        replace:
          'await file.remove({ done: rows.map(({ id }) => id), setAside: [], now: this.#deps.clock.now() })\n      const result = await this.#recordRows(rows)',
      },
    ],
    tests: [
      {
        file: 'test/spool/processes.test.ts',
        title: 'a kill -9 at any step of the drain loses no spooled delivery',
      },
    ],
  },
]
