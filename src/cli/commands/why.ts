import type { Command } from 'commander'
import { HookonceError } from '../../errors.js'
import { withInstants } from '../../server/admin/views.js'
import { type RowWriter, rowWriter, rowWriterWords } from '../../store/why.js'
import { addCommand } from '../command.js'
import { storeOption } from '../log/options.js'
import type { OptionsOf } from '../options.js'
import type { Output } from '../output.js'
import { openExistingStore } from '../store.js'
import { type Paint, printable, printableAll } from '../terminal-text.js'

const options = { ...storeOption }

export function add(program: Command): void {
  addCommand(program, 'why <table> <key...>', {
    description:
      'Says which event last wrote a row of your tables: the attempt whose ctx.tx wrote it. The log must be on PostgreSQL and in the same database; the role needs select on the table. The key is a value of the primary key, or column=value pairs.',
    examples: ['hookonce why orders 42', 'hookonce why shop.order_lines order_id=7 line=1 --json'],
    options,
    run: ({ output, options }, table: string, key: string[]) => why(output, table, key.join(' '), options),
  })
}

async function why(
  output: Output,
  table: string,
  key: string,
  given: OptionsOf<typeof options>,
): Promise<void> {
  const store = await openExistingStore(given.store)
  try {
    const found = await rowWriter(store, { table, key })
    if (!found) throw new HookonceError('ROW_NOT_FOUND', { table, key })
    output.result(withInstants(found), (paint) => whyText(found, paint))
  } finally {
    await store.close()
  }
}

function whyText(given: RowWriter, paint: Paint): string {
  const { table, key, found } = given
  const pairs = Object.entries(printableAll(key)).map(([column, value]) => `${column}=${value}`)
  const attempts = printableAll(withInstants(given.attempts)).map(
    ({ source, id, type, reference, attempt, run, outcome, finishedAt }) =>
      [
        `  ${source} ${id}  ${paint('dim', [type, reference].filter(Boolean).join(', '))}`,
        `    attempt ${attempt}${run > 1 ? ` of run ${run}` : ''}: ${outcome}, ${finishedAt}`,
        `    ${paint('dim', `hookonce events show ${source} ${id}`)}`,
      ].join('\n'),
  )
  const row = `${printable(table)} ${pairs.join(' ')}`
  return [
    `${paint('bold', row)} ${rowWriterWords[found]}${attempts.length > 0 ? ':' : '.'}`,
    ...attempts,
    paint('dim', 'Earlier writers of the row are not known: each change hides the one before.'),
  ].join('\n\n')
}
