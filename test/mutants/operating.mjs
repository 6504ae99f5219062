/** Broken builds of what operators see and do: pauses that do not hold, and reasons that are not true. */
import { onPostgres, onSqlite } from './mutant.mjs'

const pauses = 'test/processing/pauses.test.ts'
const waiting = 'test/processing/waiting.test.ts'

/** @type {import('./mutant.mjs').Mutant[]} */
export const operatingMutants = [
  {
    name: 'a pause that other processes never read',
    promise: 'A pause holds for every process of the log.',
    changes: [
      {
        file: 'src/processing/paused.ts',
        find: "if (news === 'pauses') void this.refresh()",
        replace: '',
      },
      {
        file: 'src/processing/paused.ts',
        find: 'setInterval(() => void this.refresh(),',
        replace: 'setInterval(() => {},',
      },
    ],
    tests: [{ file: pauses, title: 'a pause by one process holds back the others' }],
  },
  {
    name: 'a pause that is not polled',
    promise: 'A lost notification only delays a pause.',
    changes: [
      {
        file: 'src/processing/paused.ts',
        find: 'setInterval(() => void this.refresh(),',
        replace: 'setInterval(() => {},',
      },
    ],
    tests: [{ file: pauses, title: 'a process that gets no notification learns of a pause by polling' }],
  },
  {
    name: 'claimed events of a paused source still begin',
    promise: 'A paused source starts nothing new, not even what was claimed already.',
    changes: [
      {
        file: 'src/processing/dispatch.ts',
        find: 'if (paused.length > 0) void this.release(paused)',
        replace: 'this.#buffer.add(paused)',
      },
    ],
    tests: [{ file: pauses, title: 'events that another process has claimed and not begun are released' }],
  },
  {
    name: 'a second pause takes the name of the first',
    promise: 'A pause says who paused, and since when.',
    changes: [
      {
        file: 'src/stores/postgres/pauses.ts',
        find: 'on conflict (source, event_type) do nothing returning source, actor',
        replace:
          'on conflict (source, event_type) do update set actor = excluded.actor returning source, actor',
      },
    ],
    tests: [onPostgres('what is paused already keeps its first pause')],
  },
  {
    name: 'a pause without an audit on SQLite',
    promise: 'Each pause and resume is audited.',
    changes: [
      {
        file: 'src/stores/sqlite/pauses.ts',
        find: "    writeAudit(log, pauseAudit('pause', wanted))\n",
        replace: '',
      },
    ],
    tests: [onSqlite('each change is audited with it')],
  },
  {
    name: 'a paused worker that still gets events',
    promise: 'A pause holds for workers of the worker API too.',
    changes: [
      {
        file: 'src/server/admin/routes/work.ts',
        find: 'const held = claimed.filter((event) => paused.of(event))',
        replace: 'const held: ClaimedEvent[] = []',
      },
    ],
    tests: [{ file: 'test/server/work.test.ts', title: 'a worker gets no paused event' }],
  },
  {
    name: 'a claimed event that waits for a place is called running',
    promise: 'Every event that is not finished says why.',
    changes: [
      {
        file: 'src/processing/waiting.ts',
        find: 'lease!.claimedAt >= process.seenAt || running.includes(seq)) return null',
        replace: 'lease!.claimedAt >= 0) return null',
      },
    ],
    tests: [
      { file: waiting, title: 'it was claimed, and all places of its worker are taken' },
      { file: waiting, title: 'for a worker, for a handler, and for a place of a busy process' },
    ],
  },
  {
    name: 'an event behind a failing one is called due (PostgreSQL)',
    promise: 'Every event that is not finished says why.',
    changes: [
      {
        file: 'src/stores/postgres/standings.ts',
        find: 'h.seq < w.seq order by h.seq limit 1',
        replace: 'h.seq < w.seq and false order by h.seq limit 1',
      },
    ],
    tests: [onPostgres('an event of a lane stands behind the first of it')],
  },
  {
    name: 'an event behind a failing one is called due (SQLite)',
    promise: 'Every event that is not finished says why.',
    changes: [
      {
        file: 'src/stores/sqlite/standings.ts',
        find: 'f.seq < w.seq order by f.seq limit 1',
        replace: 'f.seq < w.seq and false order by f.seq limit 1',
      },
    ],
    tests: [onSqlite('an event of a lane stands behind the first of it')],
  },
  {
    name: 'a postponed event is called failed',
    promise: 'Every event that is not finished says why.',
    changes: [
      {
        file: 'src/stores/shared/standing.ts',
        find: '(failedAt === null || claimedAt > failedAt)',
        replace: 'failedAt === null',
      },
    ],
    tests: [
      onSqlite('an event that was released stands so until it is claimed again'),
      onPostgres('an event that was released stands so until it is claimed again'),
    ],
  },
  {
    name: 'the backlog counts what is due only',
    promise: 'An event waits since it was received, whenever it is due.',
    changes: [
      {
        file: 'src/stores/sqlite/standings.ts',
        find: "'select seq from hookonce_work order by seq limit ?'",
        replace: "'select seq from hookonce_work where next_at <= 0 order by seq limit ?'",
      },
    ],
    tests: [
      onSqlite('the oldest unfinished events come first, whenever they are due'),
      { file: 'test/cli/waiting.test.ts', title: 'doctor counts the age of events that wait behind another' },
    ],
  },
]
