/** docs/reference/schema.md: the tables and their columns, from the migrations of the SQLite store. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'hookonce/sqlite'

/** What each table is for. A table without a line here, or a line without a table, is an error. */
const purposes = {
  event_log: 'A view for people and reports: the events with their state.',
  archived: 'Which deliveries are in which object of an archive.',
  attempts: 'Each attempt of a handler, with its outcome.',
  audit: 'What operators did: payloads read, events retried, replayed, ignored, erased; sign-ins.',
  clock: 'The newest time that was written: the time of the log never goes back.',
  conflicts:
    'Other content under the id of an event, and when an operator decided about it. Open conflicts have no `decided_at`.',
  consumers:
    'How far each named consumer has followed its source. The main consumer of a source has a row too.',
  duplicates: 'How often an event was delivered again, and whether the bytes differed (a conflict).',
  effects: 'Effects of `ctx.once`, with their results.',
  event_references:
    'What else an event is about, by label: its customer, its order. Its first reference is in `events`.',
  events:
    'One row for each event and consumer. `(source, event_id)` is unique: it decides whether an event is new.',
  grants: 'The slots that each process holds of the limits of handlers.',
  guards: 'Which event first brought these signed bytes, for senders whose signature does not cover the id.',
  history: 'Counts of each source in buckets of a minute, ten minutes and an hour, for the dashboard.',
  hours: 'Counts for each source and hour. The sums are the statistics.',
  keys: 'Keys of `inbox.once`, and leases such as that of retention.',
  limits:
    'Limits of handlers that are in use (`limit`): when the next call may begin, and until when a limit is paused.',
  migrations: 'The schema versions that were applied.',
  pauses:
    'What operators have paused: a source, or its events of a type. An empty `event_type` stands for all.',
  payloads: 'The headers and bytes of each delivery. Insert-only; retention removes them first.',
  processes: 'The running processes: version, host, start, last sign of life.',
  probe: 'What a health check writes after a record has failed.',
  pruned: 'Up to where retention has removed events, for readers that follow the log.',
  reconciles: 'The last runs of `reconcile` for each source, with their reports.',
  spans: 'The first and last `seq` of each hour.',
  totals: 'The sums of `hours` for each source.',
  watermarks: 'The newest version that was applied, for the handler option `stale`.',
  work: 'One row for each event that still needs something: when it is due, and who has the lease.',
}

export async function schemaPage() {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-schema-'))
  try {
    const store = sqlite(join(folder, 'events.db'))
    await store.migrate()
    const transaction = /** @type {any} */ (await store.transaction({}))
    const { tx } = transaction
    const tables = await tx.all(
      "select name, type from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%' order by type desc, name",
    )
    const sections = []
    for (const { name, type } of tables) {
      const purpose = /** @type {Record<string, string>} */ (purposes)[name.replace(/^hookonce_/, '')]
      if (!purpose) throw new Error(`scripts/reference/schema.mjs says nothing about the table ${name}`)
      const columns = await tx.all('select name, type from pragma_table_info(?)', [name])
      const list = columns.map((/** @type {any} */ column) => `\`${column.name}\``).join(', ')
      sections.push(`| \`${name}\`${type === 'view' ? ' (view)' : ''} | ${purpose} | ${list} |`)
    }
    await transaction.rollback()
    await store.close()
    const gone = Object.keys(purposes).filter(
      (name) => !tables.some((/** @type {any} */ table) => table.name === `hookonce_${name}`),
    )
    if (gone.length > 0)
      throw new Error(`scripts/reference/schema.mjs describes tables that do not exist: ${gone.join(', ')}`)
    return page(sections)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @param {string[]} sections */
function page(sections) {
  return `# Tables

Generated from the migrations of the SQLite store. PostgreSQL has the same tables, without the prefix
\`hookonce_\`, in the schema \`hookonce\` (option
\`schema\`), with a few columns and tables more for partitions and notifications. Times are milliseconds since 1970 in
SQLite and \`timestamptz\` in PostgreSQL.

Read the view \`event_log\` in your own queries and reports; its columns stay. Other tables may change with a version, so
use the library, the command line or the admin API for them, and never write to them.

\`\`\`sql
select event_id, event_type, processing_state, received_at
from hookonce.event_log
where source = 'stripe' and related_reference = 'in_123'
order by received_at;
\`\`\`

| table | what it has | columns |
|---|---|---|
${sections.join('\n')}
`
}
