/** Broken builds of processing and retention: effects doubled, events stuck, or removed too early. */
import { onPostgres, onSqlite } from './mutant.mjs'

const crash = 'test/processing/crash.test.ts'
const recordClaim = 'test/processing/record-claim.test.ts'
const transactionPool = 'test/stores/transaction-pool.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const processingMutants = [
  {
    name: 'a copy that moves no position',
    breaksModel: true,
    promise: 'The position of a consumer and its events are written in one commit.',
    changes: [
      {
        file: 'src/stores/postgres/consumers.ts',
        find: 'where (select count(*) from moved) = 1 and e.erased_at',
        replace: 'where e.erased_at',
      },
    ],
    tests: [onPostgres('a copy from another position writes nothing')],
  },
  {
    name: 'a consumer whose position moves past types of others',
    promise: 'During a deploy that adds a type, no event of that type is passed over.',
    changes: [
      {
        file: 'src/processing/follower.ts',
        find: 'if (!others(key)) continue',
        replace: 'continue',
      },
    ],
    tests: [{ file: 'test/processing/consumers.test.ts', title: 'during a deploy that adds a type' }],
  },
  {
    name: 'a payload removed while a consumer needs it',
    promise: 'Retention keeps a shared payload until the last consumer has finished.',
    changes: [
      {
        file: 'src/stores/postgres/prune.ts',
        find: 'where o.payload_seq = p.seq and o.seq not in (select seq from gone)',
        replace: 'where o.payload_seq = g.payload_seq and o.seq not in (select seq from gone)',
      },
    ],
    tests: [onPostgres('retention keeps a shared payload until the last consumer')],
  },
  {
    name: 'fence ignored on SQLite',
    breaksModel: true,
    promise: 'An expired lease writes nothing.',
    changes: [
      {
        file: 'src/stores/sqlite/settle.ts',
        find: 'where w.seq = ? and w.token = ? and w.next_at > ?`',
        replace: 'where w.seq = ? and (w.token = ? or w.next_at > ? or 1)`',
      },
    ],
    tests: [onSqlite('changes nothing')],
  },
  {
    name: 'row count of the fence ignored',
    breaksModel: true,
    promise: 'A settlement that changed no row is a lost lease: its transaction is rolled back.',
    changes: [
      {
        file: 'src/stores/postgres/leases.ts',
        find: 'new Array<boolean>(count).fill(false)',
        replace: 'new Array<boolean>(count).fill(true)',
      },
    ],
    tests: [onPostgres('a lease settles until its time is over'), onPostgres('many concurrent settlements')],
  },
  {
    name: 'batch settle without fence',
    breaksModel: true,
    promise: 'Each lease of a batch is judged on its own.',
    changes: [
      {
        file: 'src/stores/postgres/settle.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template
        find: 'where w.seq = i.seq and w.token = i.token and ${alive} and i.retry_ms is null',
        replace: 'where w.seq = i.seq and i.retry_ms is null',
      },
    ],
    tests: [onPostgres('each lease of a batch is judged on its own')],
  },
  {
    name: 'commit in spite of a lost lease',
    promise: 'The effects of an attempt are committed only together with its outcome.',
    changes: [
      {
        file: 'src/stores/postgres/transaction.ts',
        find: "if (settled.every(Boolean)) await this.#commit('commit')",
        replace: "if (settled.length > 0) await this.#commit('commit')",
      },
    ],
    tests: [onPostgres('finish with an expired lease rolls everything back')],
  },
  {
    name: 'lease by the clock of the worker',
    promise: 'A lease is judged by the clock of the store.',
    changes: [
      {
        file: 'src/stores/postgres/claim.ts',
        find: 'next_at = hookonce.clock() + make_interval(secs => $2::float8 / 1000)',
        replace: 'next_at = to_timestamp($2::float8 / 1000)',
      },
      {
        file: 'src/stores/postgres/claim.ts',
        find: '[worker, leaseMs, texts(waiting), share, room, starts]',
        replace: '[worker, Date.now() + leaseMs, texts(waiting), share, room, starts]',
      },
      {
        file: 'src/stores/postgres/claim.ts',
        find: '[worker, leaseMs, event.source, event.id]',
        replace: '[worker, Date.now() + leaseMs, event.source, event.id]',
      },
    ],
    tests: [{ file: crash, title: 'workers whose clocks are ten minutes apart' }],
  },
  {
    name: 'heartbeat stopped',
    promise: 'A handler that takes longer than its lease keeps it.',
    changes: [
      {
        file: 'src/processing/leases.ts',
        find: 'void this.#extendAll()',
        replace: 'void this.#extendAll',
      },
    ],
    tests: [{ file: crash, title: 'keeps it by heartbeats' }],
  },
  {
    name: 'an expired lease can be extended',
    breaksModel: true,
    promise: 'A lease that has expired stays expired.',
    changes: [
      {
        file: 'src/stores/sqlite/settle.ts',
        find: "'update hookonce_work set next_at = ? where seq = ? and token = ? and next_at > ?'",
        replace: "'update hookonce_work set next_at = ? where seq = ? and token = ? and next_at + ? > 0'",
      },
    ],
    tests: [onSqlite('changes nothing')],
  },
  {
    name: 'buffer kept at stop',
    promise: 'A stop gives back the events that have not begun.',
    changes: [
      {
        file: 'src/processing/dispatch.ts',
        find: 'return this.release(this.#buffer.clear())',
        replace: 'return this.release(this.#buffer.clear().slice(0, 0))',
      },
    ],
    tests: [{ file: crash, title: 'under load finishes what runs, hands back what waits' }],
  },
  {
    name: 'attempt counted at its end',
    breaksModel: true,
    promise: 'An event that kills its worker ends in the dead letters: a crash counts as an attempt.',
    changes: [
      {
        file: 'src/stores/sqlite/claim.ts',
        find: 'claimed_at = ?3, attempt = attempt + 1,',
        replace: 'claimed_at = ?3, attempt = attempt + (token is null),',
      },
    ],
    tests: [onSqlite('a crash counts as an attempt')],
  },
  {
    name: 'unknown commit taken for a failure',
    promise: 'A commit whose answer was lost is looked up in the log before the event is tried again.',
    changes: [
      {
        file: 'src/processing/settle.ts',
        find: "if (isHookonceError(error, 'COMMIT_UNKNOWN') && (await",
        replace: "if (isHookonceError(error, 'COMMIT_UNKNOWN') && false && (await",
      },
    ],
    tests: [{ file: 'test/processing/unknown-commit.test.ts', title: 'a commit whose answer was lost' }],
  },
  {
    name: 'rollback on a connection that was handed over',
    promise: 'An attempt that lost its lease rolls back its own effects, and no effect of another event.',
    changes: [
      {
        file: 'src/stores/postgres/transaction.ts',
        find: 'if (isExpired) return false',
        replace: "if (isExpired) return client.query('rollback').then(() => false)",
      },
    ],
    tests: [{ file: transactionPool, title: 'an expired lease rolls back its own transaction' }],
  },
  {
    name: 'transaction behind a commit that hangs',
    promise: 'A connection that stopped answering does not take the next events with it.',
    changes: [
      {
        file: 'src/stores/postgres/connection/transaction-pool.ts',
        find: 'const FRESH_MS = 250',
        replace: 'const FRESH_MS = 250_000',
      },
    ],
    tests: [{ file: transactionPool, title: 'nothing begins behind a commit that takes long' }],
  },
  {
    name: 'slots counted without those of others',
    promise: 'Processes together never have more slots than a limit has.',
    changes: [
      {
        file: 'src/stores/postgres/grants.ts',
        find: 'select greatest(0, least(wanted, most - coalesce(sum(g.slots), 0))) into slots',
        replace: 'select greatest(0, least(wanted, most)) into slots',
      },
    ],
    tests: [onPostgres('holders together never have more slots than there are')],
  },
  {
    name: 'slot of a frozen process given away',
    promise: 'A frozen process that wakes up cannot commit beside the one that has its slot.',
    changes: [
      {
        file: 'src/stores/sqlite/grants.ts',
        find: 'where w.source = ?1 and w.token is not null',
        replace: 'where w.source <> ?1 and w.token is not null',
      },
    ],
    tests: [onSqlite('are not free while an event that it claimed of the source is leased')],
  },
  {
    name: 'rate without the time to be late',
    promise: 'Never more than `perSecond` calls begin within a second.',
    changes: [
      {
        file: 'src/processing/limits.ts',
        find: 'while (this.starts.length > 0 && this.starts[0]! + this.#lateMs < now)',
        replace: 'while (this.starts.length > 1e9)',
      },
    ],
    tests: [{ file: 'test/simulation/limits.test.ts', title: 'starts that were missed are lost' }],
  },
  {
    name: 'writer of a row by an id of another server',
    promise: 'After a dump and restore, `hookonce why` names no wrong attempt.',
    changes: [
      {
        file: 'src/stores/postgres/why.ts',
        find: 'and a.xmin = $1::text::xid',
        replace: 'and a.xid is not null',
      },
    ],
    tests: [
      { file: 'test/stores/why.test.ts', title: 'after a dump and restore no row names the wrong attempt' },
    ],
  },
  {
    name: 'limit of one with two at a time',
    promise: 'A handler with a limit of one sees the effects of the events before it.',
    changes: [
      {
        file: 'src/processing/dispatch.ts',
        find: 'return this.#places.size > 1 && handler?.options.limit?.concurrency === undefined',
        replace: 'return true',
      },
    ],
    tests: [
      { file: 'test/processing/settle-together.test.ts', title: 'with a limit of its own does not begin' },
    ],
  },
  {
    name: 'lane without order',
    breaksModel: true,
    promise: 'Events of one lane are handled one after the other.',
    changes: [
      {
        file: 'src/stores/sqlite/claim.ts',
        find: 'if (row.blocked !== 0) blocked.push(row)\n      else if',
        replace: 'if',
      },
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: 'const dueAt = dueIn(log, source, lane, seq)',
        replace: 'const dueAt = log.now',
      },
    ],
    tests: [onSqlite('a lane gives one event at a time'), onSqlite('many workers process many lanes')],
  },
  {
    name: 'replay without lock',
    promise: 'An event that is being processed is not replayed.',
    changes: [
      {
        file: 'src/stores/shared/operate.ts',
        find: "if (state === 'processing') return 'EVENT_PROCESSING'\n",
        replace: '',
      },
    ],
    tests: [onPostgres('is processing: it moves as the table says')],
  },
  {
    name: 'replay races a worker',
    promise: 'An order reads the state of its events under their locks.',
    changes: [
      {
        file: 'src/stores/postgres/operate.ts',
        find: '  await run(lockWork, values)\n  await run(lockEvents, values)\n',
        replace: '',
      },
      {
        file: 'src/stores/postgres/operate.ts',
        find: '  await run(lockNewWork, values)\n',
        replace: '',
      },
    ],
    tests: [onPostgres('an order and a worker that race')],
  },
  {
    name: 'prune ignores the state on SQLite',
    breaksModel: true,
    promise: 'An unfinished event is never removed.',
    changes: [
      {
        file: 'src/stores/sqlite/prune.ts',
        find: "const finished = \"('succeeded', 'ignored')\"",
        replace: "const finished = \"('succeeded', 'ignored', 'pending', 'failed')\"",
      },
    ],
    tests: [onSqlite('a pending, processing or failed event is never pruned')],
  },
  {
    name: 'prune ignores the state on PostgreSQL',
    breaksModel: true,
    promise: 'An unfinished event is never removed.',
    changes: [
      {
        file: 'src/stores/postgres/prune.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template
        find: "where ${event} and (w.seq is not null or o.parked = 'dead')`",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template
        replace: 'where ${event} and false`',
      },
    ],
    tests: [onPostgres('a pending, processing or failed event is never pruned')],
  },
  {
    name: 'events of a sender without a signed time expire',
    promise: 'Captured bytes that come back after the horizon of their event are not handled again.',
    changes: [
      {
        file: 'src/retention/policy.ts',
        find: 'staysValid(source) ? Number.POSITIVE_INFINITY : defaults.events',
        replace: 'defaults.events',
      },
    ],
    tests: [{ file: 'test/retention/retain.test.ts', title: 'captured bytes on day 91' }],
  },
  {
    name: 'other content is answered before it is kept',
    promise: 'Other content under a known id is kept before its sender is answered.',
    changes: [
      {
        file: 'src/stores/postgres/record.ts',
        find: 'for (const conflict of conflicts)',
        replace: 'for (const conflict of conflicts.slice(conflicts.length))',
      },
    ],
    tests: [onPostgres('other content under a known id is a conflict')],
  },
  {
    name: 'other content that was not kept is acknowledged',
    promise: 'Other content that cannot be kept is answered 503.',
    changes: [
      {
        file: 'src/stores/postgres/record.ts',
        find: 'answer(event, refused(event, error))',
        replace: 'void refused(event, error)',
      },
    ],
    tests: [{ file: 'test/stores/record-faults.test.ts', title: 'other content that cannot be kept' }],
  },
  {
    name: 'payload of another part',
    promise: 'A handler gets the payload of its own event.',
    changes: [
      {
        file: 'src/processing/payload.ts',
        find: 'const { id: eventId, type, reference, part } = claimed',
        replace:
          "const part = 0\n  const { type, reference } = claimed\n  const eventId = slices[0]?.id ?? ''",
      },
    ],
    tests: [{ file: 'test/processing/attempt.test.ts', title: 'each handler call gets its own part' }],
  },
  {
    name: 'effect of once repeated',
    promise: 'An effect of `ctx.once` that has finished does not run again.',
    changes: [
      {
        file: 'src/processing/effect.ts',
        find: "if (before.state === 'finished') return storedResult(effect, before.result)\n",
        replace: '',
      },
    ],
    tests: [{ file: 'test/processing/attempt.test.ts', title: 'runs an effect once over failed attempts' }],
  },
  {
    name: 'a failed batch fails all its events',
    promise: 'When a batch fails, only the bad event fails: each event gets its own attempt.',
    changes: [
      {
        file: 'src/processing/batch.ts',
        find: '  return null\n}\n',
        replace: "  return claimed.map(() => ({ kind: 'lost' as const }))\n}\n",
      },
    ],
    tests: [{ file: 'test/processing/share.test.ts', title: 'a failing event fails alone' }],
  },
  {
    name: 'a failed handler keeps its writes',
    breaksModel: true,
    promise: 'The writes of a handler that throws are rolled back.',
    changes: [
      {
        file: 'src/processing/session.ts',
        find: '.then((begun) => begun.rollback())',
        replace: '.then((begun) => begun.commit())',
      },
    ],
    tests: [
      { file: 'test/processing/attempt.test.ts', title: 'a handler that throws has its writes rolled back' },
    ],
  },
  {
    name: 'a record leases two events of a lane',
    promise: 'Events of a lane are leased one at a time, by records and by claims.',
    changes: [
      {
        file: 'src/stores/postgres/work.ts',
        find: 'pg_try_advisory_xact_lock(',
        replace: 'pg_try_advisory_xact_lock_shared(',
      },
    ],
    tests: [onPostgres('records and claims at the same time never lease two events')],
  },
  {
    name: 'a record leases an event behind the head of its lane',
    breaksModel: true,
    promise: 'Events of a lane are leased one at a time, by records and by claims.',
    changes: [
      {
        file: 'src/stores/sqlite/record-insert.ts',
        find: 'claim === null || dueAt > log.now',
        replace: 'claim === null',
      },
    ],
    tests: [onSqlite('a record leases an event of a lane only as its head')],
  },
  {
    name: 'a record that is sent again does not find its leases',
    promise: 'A batch that is sent again after a lost answer finds its own leases.',
    changes: [
      {
        file: 'src/stores/postgres/record-insert.ts',
        find: 'row.leased_at === null ? null : Math.trunc(row.leased_at)',
        replace: 'null',
      },
    ],
    tests: [{ file: 'test/stores/ambiguous-commit.test.ts', title: 'the leases of the record are found' }],
  },
  {
    name: 'a recorded event is not handed over',
    promise: 'An event that was recorded under a lease is handled at once.',
    changes: [
      {
        file: 'src/processing/record-claims.ts',
        find: '    buffer.add(toRun)\n',
        replace: '',
      },
    ],
    tests: [{ file: recordClaim, title: 'an event is handled without a claim' }],
  },
  {
    name: 'a recorded event keeps its lease at the stop',
    promise: 'An event that has not begun is released at the stop, and has used up no attempt.',
    changes: [
      {
        file: 'src/processing/record-claims.ts',
        find: '    if (this.#dispatch.isStopped) return void this.#dispatch.release(toRun)\n',
        replace: '',
      },
    ],
    tests: [{ file: recordClaim, title: 'an event that is recorded during the stop is released' }],
  },
  {
    name: 'a new event overtakes those that wait in the log',
    promise: 'An event is leased by its record only when no due event waits.',
    changes: [
      {
        file: 'src/processing/record-claims.ts',
        find: 'if (!backlog.isEmpty || ',
        replace: 'if (',
      },
    ],
    tests: [{ file: recordClaim, title: 'events are handled in the order they came' }],
  },
]
