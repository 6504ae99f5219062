import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import { limits } from '../../model.js'
import { type ImportedEvent, type ImportedState, importedStates } from '../../store/imports.js'
import { need, type Store } from '../../store.js'
import { checkImport } from '../../stores/shared/checked.js'
import { addCommand, interruptible } from '../command.js'
import { Failure, UsageError } from '../failure.js'
import { addUsual, type Columns, columnsOf, eventOf } from '../import/fields.js'
import { fileRows, type ImportRow, queryRows } from '../import/rows.js'
import { storeOption } from '../log/options.js'
import { actorName } from '../log/store-log.js'
import { choice, flag, noteOption, type OptionsOf, text, texts } from '../options.js'
import { counted, type Output, storeTitle, table } from '../output.js'
import { openAnyStore } from '../store.js'
import { printable } from '../terminal-text.js'

const options = {
  file: text(
    '<path>',
    'a CSV file with a header line, or a file with one JSON object per line; - for standard input',
  ),
  query: text('<select>', 'a SELECT whose rows are events'),
  database: text('<url>', 'the PostgreSQL database of --query (default: that of the store)'),
  map: texts(
    '<field=column>',
    'which column is id, type, time, processed, reference, reference.<label>, references, payload or state; may be repeated (default: by usual names)',
  ),
  state: {
    ...choice('<state>', 'the state of events without a state column', importedStates),
    initial: 'succeeded' as ImportedState,
  },
  dryRun: flag('read and check all rows, write nothing'),
  ...noteOption,
  ...storeOption,
}
type ImportOptions = OptionsOf<typeof options>

export function add(program: Command): void {
  addCommand(program, 'import <source>', {
    description:
      'Adds the events of a hand-written table to the log, with their own times, so that a retry of their sender is a duplicate. No handler runs. Reads CSV or NDJSON from a file or standard input, or the rows of a SELECT. The log of an event that is known is not changed, so an import that was interrupted can be run again.',
    examples: [
      'hookonce import stripe --query "select event_id, type, received_at from webhook_events" --database postgres://localhost/shop --dry-run',
      'hookonce import stripe --file events.csv --map id=stripe_id --map time=created',
      'zcat events.ndjson.gz | hookonce import github --file -',
    ],
    options,
    run: ({ output, options }, source: string) => importCommand(output, source, options),
  })
}

interface Report {
  rows: number
  imported: number
  /** The log had them already. */
  known: number
}

const BATCH_BYTES = 8 * 1024 * 1024

async function importCommand(output: Output, source: string, options: ImportOptions): Promise<number> {
  const rows = await rowsOf(options)
  const store = await openAnyStore(options.store)
  const { signal } = interruptible()
  const run = new ImportRun(output, source, store, options)
  try {
    await run.begin()
    for await (const row of rows) {
      if (signal.aborted) break
      await run.read(row)
    }
    await run.flush()
  } finally {
    output.progress(null)
    try {
      await run.audit()
    } finally {
      await store.close()
    }
  }
  const { report, columns, sample } = run
  const dryRun = options.dryRun === true
  output.result({ source, store: store.name, ...report, dryRun, interrupted: signal.aborted, columns }, () =>
    [
      ...(dryRun ? [preview(columns, sample), ''] : []),
      `${placeOf(store, options.store)}: ${counted(report.imported, 'event', 'events')} ${dryRun ? 'would be imported' : 'imported'} as ${options.state}, ${report.known} known already, in ${(run.elapsedMs / 1_000).toFixed(1)} s`,
      ...(signal.aborted ? ['Interrupted. Run it again: events that the log has are left alone.'] : []),
    ].join('\n'),
  )
  return signal.aborted ? 1 : 0
}

/** Two databases can have a schema of the same name. */
function placeOf({ name }: Store, given: string | undefined): string {
  const url = given ?? process.env.HOOKONCE_STORE ?? ''
  if (!/^postgres(ql)?:/.test(url) || !URL.canParse(url)) return storeTitle(name)
  const { host, pathname } = new URL(url)
  return `${storeTitle(name)}, at ${host}${pathname}`
}

class ImportRun {
  readonly report: Report = { rows: 0, imported: 0, known: 0 }
  columns: Columns | undefined
  /** A dry run prints them. */
  readonly sample: ImportedEvent[] = []
  /** A dry run writes nothing, so the log does not know the ids that come twice. */
  readonly #seen = new Set<string>()
  #batch: ImportedEvent[] = []
  #bytes = 0
  /** False when a dry run meets a log that does not exist yet. */
  #hasSchema = true
  readonly #startedAt = performance.now()
  readonly #output: Output
  readonly #source: string
  readonly #store: Store
  readonly #options: ImportOptions

  constructor(output: Output, source: string, store: Store, options: ImportOptions) {
    this.#output = output
    this.#source = source
    this.#store = store
    this.#options = options
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  async begin(): Promise<void> {
    if (!this.#options.dryRun) await this.#store.migrate()
    else {
      const { schema } = await need(this.#store, 'inspect', 'a dry run').report()
      this.#hasSchema = schema.found > 0
    }
  }

  async read(row: ImportRow): Promise<void> {
    if (this.columns === undefined) this.columns = columnsOf(row, this.#options.map ?? [])
    else addUsual(this.columns, row)
    const event = checked(row, this.columns, this.#source, this.#options, this.report.rows + 1)
    if (event instanceof Failure) {
      await this.flush()
      throw event
    }
    this.report.rows++
    if (this.sample.length < 3) this.sample.push(event)
    this.#batch.push(event)
    this.#bytes += event.payload?.body.byteLength ?? 0
    if (this.#batch.length === limits.recordBatch || this.#bytes > BATCH_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    if (batch.length === 0) return
    const added = this.#options.dryRun
      ? this.#first(await unknown(this.#store, this.#hasSchema, batch), batch)
      : await need(this.#store, 'imports', 'hookonce import').add(batch)
    const imported = added.filter(Boolean).length
    this.report.imported += imported
    this.report.known += batch.length - imported
    this.#batch = []
    this.#bytes = 0
    this.#output.progress(progressText(this.report, this.elapsedMs))
  }

  #first(added: readonly boolean[], batch: readonly ImportedEvent[]): boolean[] {
    return added.map((isNew, i) => {
      const { id } = batch[i]!
      if (!isNew || this.#seen.has(id)) return false
      this.#seen.add(id)
      return true
    })
  }

  /** Call it after a failure too: the rows before it are in the log. */
  async audit(): Promise<void> {
    const { dryRun, note } = this.#options
    if (dryRun || this.report.imported === 0) return
    const events = counted(this.report.imported, 'event', 'events')
    const entry = { actor: actorName(), verb: 'import', source: this.#source, eventId: null } as const
    await this.#store.audit?.append([{ ...entry, note: note === undefined ? events : `${events}: ${note}` }])
  }
}

async function rowsOf({ file, query, database, store }: ImportOptions): Promise<AsyncGenerator<ImportRow>> {
  if ((file === undefined) === (query === undefined))
    throw new UsageError('hookonce import needs either --file or --query.')
  if (query !== undefined) {
    const url = database ?? store ?? process.env.HOOKONCE_STORE
    if (url === undefined || !/^postgres(ql)?:/.test(url))
      throw new UsageError('--query needs --database postgres://user@host/db.')
    return queryRows(url, query)
  }
  return fileRows(file === '-' ? process.stdin : await contentOf(file!))
}

async function contentOf(path: string): Promise<Readable> {
  try {
    return (await open(path)).createReadStream()
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be opened: ${(error as Error).message}.`)
  }
}

function checked(
  row: ImportRow,
  columns: Columns,
  source: string,
  { state, dryRun }: ImportOptions,
  number: number,
): ImportedEvent | Failure {
  try {
    const event = eventOf(row, columns, { source, state, now: Date.now() })
    checkImport(event)
    return event
  } catch (error) {
    const before = dryRun ? '' : ' The rows before it were imported.'
    const problem = (error as Error).message.replace(/\.$/, '')
    return new Failure(`Row ${number} cannot be imported: ${problem}.${before}`)
  }
}

/** A dry run writes no schema, so the log may have no tables yet. */
async function unknown(
  store: Store,
  hasSchema: boolean,
  batch: readonly ImportedEvent[],
): Promise<boolean[]> {
  if (!hasSchema) return batch.map(() => true)
  const known = await need(store, 'imports', 'hookonce import').known(batch)
  return known.map((found) => !found)
}

function progressText({ rows, imported }: Report, ms: number): string {
  return `${rows} rows, ${imported} imported, ${Math.round((rows / Math.max(1, ms)) * 60_000)} rows a minute`
}

function preview(columns: Columns | undefined, sample: readonly ImportedEvent[]): string {
  if (columns === undefined) return 'There are no rows.'
  const mapped = Object.entries(columns).map(([field, column]) => `${field}=${column}`)
  const rows = sample.map(({ id, type, receivedAt, reference, references = [], payload }) => [
    printable(id),
    printable(type),
    new Date(receivedAt).toISOString(),
    printable([reference ?? '-', ...references.map(({ label, value }) => `${label} ${value}`)].join(', ')),
    payload === null ? 'no payload' : `${payload.body.byteLength} bytes`,
  ])
  return `Columns: ${mapped.join(', ')}\n${table([['ID', 'TYPE', 'RECEIVED', 'REFERENCE', 'PAYLOAD'], ...rows])}`
}
