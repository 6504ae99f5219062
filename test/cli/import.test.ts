import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createInbox } from 'hookonce'
import { stripe } from 'hookonce/providers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Folder, freshFolder } from '../support/cli.js'
import { freshDatabase, type TestDatabase } from '../support/database.js'

const secret = 'whsec_0123456789abcdef'
const ROWS = 5_000
let folder: Folder
let database: TestDatabase
let client: pg.Client
beforeAll(async () => {
  folder = freshFolder()
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  // The table that most applications write by hand.
  await client.query(`
    create table webhook_events (id serial, event_id text primary key, type text, received_at timestamptz, done boolean, payload jsonb);
    insert into webhook_events (event_id, type, received_at, done, payload)
    select 'evt_' || i, 'invoice.paid', timestamptz '2026-03-01' + i * interval '1 minute', i <= ${ROWS},
      case when i % 2 = 0 then jsonb_build_object('id', 'evt_' || i) end
    from generate_series(1, ${ROWS + 3}) i`)
})
afterAll(async () => {
  await client.end()
  await database.drop()
  await folder.remove()
})

const json = async (...args: string[]) => {
  const ended = await folder.call([...args, '--json'])
  expect(ended.stderr).toBe('')
  return { code: ended.code, result: JSON.parse(ended.stdout) }
}
const select = 'select event_id, type, received_at, payload from webhook_events where done order by event_id;'

async function deliver(store: string, id: string, handled: string[] = []) {
  const source = stripe({ secret })
  const inbox = createInbox({ store, sources: { stripe: source }, log: 'silent' })
  inbox.on('stripe', '*', (event) => void handled.push(event.id))
  try {
    const body = JSON.stringify({ id, type: 'invoice.paid', data: { object: { id: 'in_1' } } })
    const receipt = await inbox.receive('stripe', await source.sign({ body, now: Date.now() }))
    await inbox.drain()
    return { receipt, event: await inbox.events.get({ source: 'stripe', id: id }) }
  } finally {
    await inbox.stop()
  }
}

describe.each([
  ['PostgreSQL', () => database.url],
  ['SQLite', () => `sqlite:${join(folder.path, 'events.db')}`],
])('into a log on %s', (_kind, storeUrl) => {
  const from = () => [
    'import',
    'stripe',
    '--query',
    select,
    '--database',
    database.url,
    '--store',
    storeUrl(),
  ]

  test('a dry run counts and shows, and writes nothing', async () => {
    const shown = await folder.call([...from(), '--dry-run'])
    expect(shown.stdout).toContain('Columns: id=event_id, type=type, time=received_at, payload=payload')
    expect(shown.stdout).toContain(`${ROWS} events would be imported as succeeded, 0 known already`)
    expect(shown.stdout).toContain(
      storeUrl().startsWith('sqlite') ? storeUrl() : `at ${new URL(storeUrl()).host}/`,
    )
    const { code, stdout } = await folder.call(['events', 'list', '--store', storeUrl()])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' }) // there is not even a log
  })

  test('the rows of a SELECT are known events with their own times', async () => {
    const { code, result } = await json(...from())
    expect(code).toBe(0)
    expect(result).toMatchObject({ imported: ROWS, known: 0 })
    const { event, receipt } = await deliver(storeUrl(), 'evt_7')
    expect(receipt).toMatchObject({ httpStatus: 200, status: 'already_processed', duplicate: true })
    expect(event).toMatchObject({ state: 'succeeded', conflicts: 0, receivedAt: Date.UTC(2026, 2, 1, 0, 7) })
  })

  test('a repetition imports what is new, changes nothing else, and is audited', async () => {
    expect((await json(...from())).result).toMatchObject({ imported: 0, known: ROWS })
    // Side by side: the old program goes on, and the new one has received one event first.
    const handled: string[] = []
    await deliver(storeUrl(), `evt_${ROWS + 1}`, handled)
    expect(handled).toEqual([`evt_${ROWS + 1}`])
    await client.query('update webhook_events set done = true')
    expect((await json(...from(), '--note', 'cutover')).result).toMatchObject({
      imported: 2,
      known: ROWS + 1,
    })
    await client.query(`update webhook_events set done = id <= ${ROWS}`)
    const { result } = await json('events', 'show', `stripe/evt_${ROWS + 2}`, '--store', storeUrl())
    expect(JSON.stringify(result)).toContain('succeeded')
    expect((await folder.call(['doctor', '--store', storeUrl()])).stdout).not.toMatch(
      /PROBLEM +(one row|finished|unfinished)/,
    )
  })
})

test('CSV and NDJSON files are read, also with other column names and from standard input', async () => {
  const store = `sqlite:${join(folder.path, 'files.db')}`
  writeFileSync(
    join(folder.path, 'old.csv'),
    '\uFEFFnumber,stripe_id,kind,at,body\r\n1,evt_a,"invoice, ""paid""",2026-01-02 03:04:05+00,\r\n2,evt_b,charge,1767225600,"{""a"":1}"\r\n',
  )
  const csv = [
    'import',
    'stripe',
    '--file',
    'old.csv',
    '--map',
    'id=stripe_id',
    '--map',
    'type=kind',
    '--map',
    'time=at',
  ]
  expect((await json(...csv, '--store', store)).result).toMatchObject({ imported: 2 })
  expect((await deliver(store, 'evt_a')).event).toMatchObject({
    type: 'invoice, "paid"',
    receivedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  })
  expect((await deliver(store, 'evt_b')).event).toMatchObject({ receivedAt: 1_767_225_600_000 })
  writeFileSync(join(folder.path, 'old.ndjson'), '{"id":"evt_c","payload":{"n":1}}\n\n{"id":"evt_d"}\n')
  const ndjson = await json(
    'import',
    'stripe',
    '--file',
    'old.ndjson',
    '--state',
    'ignored',
    '--store',
    store,
  )
  expect(ndjson.result).toMatchObject({ rows: 2, imported: 2 })
  expect((await deliver(store, 'evt_d')).event).toMatchObject({ state: 'ignored', type: 'imported' })
})

describe.each([
  ['PostgreSQL', () => database.url],
  ['SQLite', () => 'sqlite:references.db'],
])('references, into a log on %s', (_kind, storeUrl) => {
  const shop = (...args: string[]) => json('import', 'shop', ...args, '--store', storeUrl())
  const found = async (reference: string, label: string) => {
    const args = ['events', 'list', '--reference', reference, '--label', label, '--store', storeUrl()]
    return (await json(...args)).result.events.map(({ id }: { id: string }) => id).sort()
  }

  test('of CSV come from columns by label, under their names or others', async () => {
    writeFileSync(
      join(folder.path, 'labels.csv'),
      'id,reference,reference.customer,reference.invoice,buyer,references\n' +
        'csv_a,in_1,cus_csv,in_1,b_csv,"[{""label"":""order"",""value"":""o_csv""}]"\n' +
        'csv_b,,,,b_csv,null\n',
    )
    const args = ['--file', 'labels.csv', '--map', 'reference.buyer-id=buyer']
    const counts = { rows: 2, imported: 2, known: 0 }
    expect((await shop(...args, '--dry-run')).result).toMatchObject(counts)
    const { result } = await shop(...args)
    expect(result).toMatchObject({
      ...counts,
      columns: { 'reference.customer': 'reference.customer', 'reference.buyer-id': 'buyer' },
    })
    expect((await shop(...args, '--dry-run')).result).toMatchObject({ ...counts, imported: 0, known: 2 })
    const { event } = (await json('events', 'show', 'shop/csv_a', '--store', storeUrl())).result
    expect(event).toMatchObject({ reference: 'in_1' })
    expect(event.references).toEqual([
      { label: 'invoice', value: 'in_1' },
      { label: 'buyer-id', value: 'b_csv' },
      { label: 'customer', value: 'cus_csv' },
      { label: 'order', value: 'o_csv' },
    ])
    expect(await found('b_csv', 'buyer-id')).toEqual(['csv_a', 'csv_b'])
  })

  test('of NDJSON are a list, an object or fields, and the first row may have none', async () => {
    const rows = [
      { id: 'json_a' },
      { id: 'json_b', references: [{ label: 'customer', value: 'cus_json' }] },
      { id: 'json_c', references: { customer: 'cus_json', order: 7, none: null } },
      { id: 'json_d', 'reference.customer': 'cus_json', references: [] },
    ]
    writeFileSync(join(folder.path, 'labels.ndjson'), rows.map((row) => JSON.stringify(row)).join('\n'))
    const { result } = await shop('--file', 'labels.ndjson')
    expect(result).toMatchObject({ rows: 4, imported: 4 })
    expect(await found('cus_json', 'customer')).toEqual(['json_b', 'json_c', 'json_d'])
    expect(await found('7', 'order')).toEqual(['json_c'])
  })

  test('of one log are those of another, by its export', async () => {
    const from = 'sqlite:exported.db'
    await json('import', 'shop', '--file', 'labels.csv', '--store', from)
    const { stdout } = await folder.call(['events', 'export', '--store', from])
    writeFileSync(join(folder.path, 'exported.ndjson'), stdout.replaceAll('csv', 'export'))
    expect((await shop('--file', 'exported.ndjson')).result).toMatchObject({ imported: 2 })
    expect(await found('o_export', 'order')).toEqual(['export_a'])
  })

  test('of a SELECT are columns, of JSON or with a label', async () => {
    const query = `select 'sql_a' as id, 'cus_sql' as "reference.customer", '{"order":"o_sql"}'::jsonb as references`
    const { result } = await shop('--query', query, '--database', database.url)
    expect(result).toMatchObject({ imported: 1 })
    expect(await found('cus_sql', 'customer')).toEqual(['sql_a'])
    expect(await found('o_sql', 'order')).toEqual(['sql_a'])
  })

  test.each([
    ['{"no label":"x"}', 'the label "no label" of a reference must be 1 to 64 letters'],
    ['{"reference":"x"}', 'the label "reference" of a reference cannot be "reference"'],
    ['["cus_1"]', 'the references are ["cus_1"]; they must be a JSON list of { label, value } or an object'],
    ['{"customer":{"id":"x"}}', 'the reference with the label "customer" must be text or a number'],
    ['[{"label":"customer"}]', 'the reference with the label "customer" must be text or a number'],
    ['"cus_1"', 'the references are "cus_1"; they must be a JSON list of { label, value } or an object'],
    [`{"customer":"${'v'.repeat(256)}"}`, 'A reference must not be longer than 255 bytes, and has 256'],
    [
      JSON.stringify(Array.from({ length: 21 }, (_, i) => ({ label: 'item', value: i }))),
      'An event has at most 20 labelled references, not 21',
    ],
  ])('that are wrong are named with their row, by a dry run too (%#)', async (references, problem) => {
    writeFileSync(
      join(folder.path, 'wrong.ndjson'),
      `{"id":"before"}\n{"id":"wrong","references":${references}}\n`,
    )
    const args = ['import', 'shop', '--file', 'wrong.ndjson', '--store', storeUrl()]
    for (const more of [['--dry-run'], []]) {
      const { code, stderr } = await folder.call([...args, ...more])
      expect([code, stderr]).toEqual([1, expect.stringContaining(`Row 2 cannot be imported: ${problem}`)])
    }
  })

  test('with a label that is none are refused at the head of the file', async () => {
    writeFileSync(join(folder.path, 'head.csv'), 'id,reference.no label\na,\n')
    const { code, stderr } = await folder.call([
      'import',
      'shop',
      '--file',
      'head.csv',
      '--store',
      storeUrl(),
    ])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('The label of reference.no label must be 1 to 64 letters'),
    ])
  })
})

test('a dry run shows references', async () => {
  writeFileSync(join(folder.path, 'shown.csv'), 'id,reference,reference.customer\na,in_1,cus_1\n')
  const args = ['import', 'shop', '--file', 'shown.csv', '--store', 'sqlite:shown.db', '--dry-run']
  const { stdout } = await folder.call(args)
  expect(stdout).toContain('reference.customer=reference.customer')
  expect(stdout).toContain('in_1, customer cus_1')
})

test('a dry run counts an id that comes twice as the import would', async () => {
  writeFileSync(
    join(folder.path, 'twice.csv'),
    'id,type,time\na,x,2026-01-01\nb,x,2026-01-01\na,x,2026-01-01\n',
  )
  const args = ['import', 'stripe', '--file', 'twice.csv', '--store', 'sqlite:twice.db']
  const counts = { rows: 3, imported: 2, known: 1 }
  expect((await json(...args, '--dry-run')).result).toMatchObject({ ...counts, store: 'sqlite:twice.db' })
  expect((await json(...args)).result).toMatchObject(counts)
})

test('a mistake is named with its row or column', async () => {
  const store = `sqlite:${join(folder.path, 'wrong.db')}`
  const wrong = async (text: string, ...args: string[]) => {
    writeFileSync(join(folder.path, 'wrong.csv'), text)
    const { code, stderr } = await folder.call([
      'import',
      'shop',
      '--file',
      'wrong.csv',
      '--store',
      store,
      ...args,
    ])
    return `${code} ${stderr}`
  }
  expect(await wrong('a,b\n1,2\n')).toContain(
    '2 hookonce: No column holds the event id: name it with --map id=column.',
  )
  expect(await wrong('id\n1\n', '--file', 'missing.csv')).toContain(
    '2 hookonce: The file missing.csv cannot be opened: ENOENT',
  )
  expect(await wrong('id,time\n1,yesterday\n')).toContain(
    '1 hookonce: Row 1 cannot be imported: the time is "yesterday"',
  )
  // The rows before a wrong one are in the log, as the message says.
  const cut = await wrong('id,time\ngood,2026-10-01\nbad,yesterday\n')
  expect(cut).toContain('Row 2 cannot be imported: the time is "yesterday"')
  expect(cut).toContain('The rows before it were imported.')
  expect((await folder.call(['events', 'show', 'good', '--store', store])).code).toBe(0)
  // What only the store refuses is named in the same way, by a dry run too.
  const long = `id,type\nfirst,a\nsecond,${'t'.repeat(256)}\n`
  for (const args of [['--dry-run'], []])
    expect(await wrong(long, ...args)).toContain('1 hookonce: Row 2 cannot be imported: An event type must')
  expect((await folder.call(['events', 'show', 'first', '--store', store])).code).toBe(0)
  expect(await wrong('id\nx\n', '--map', 'id=nr')).toContain('there is no column nr')
  expect(await wrong('id\nx\n', '--state', 'failed')).toContain('there would be nothing to retry')
  expect(await wrong('id\n"x')).toContain('ends inside the quoted cell that begins in the row at line 2')
})

test('an import that is interrupted says where, and can be run again', async () => {
  const store = `sqlite:${join(folder.path, 'cut.db')}`
  const endless = `select 'e' || i as event_id, pg_sleep(0.001) from generate_series(1, 1000000) i`
  const running = folder.start([
    'import',
    'shop',
    '--query',
    endless,
    '--database',
    database.url,
    '--store',
    store,
    '--json',
  ])
  await expect
    .poll(async () => (await folder.call(['events', 'list', '--store', store, '--json'])).stdout)
    .toContain('"source":"shop"')
  running.signal('SIGINT')
  const { code, stdout } = await running.ended()
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, known: 0 })
})

describe('a row without an end', () => {
  const endless = 'x'.repeat(48 * 1024 * 1024)
  const run = (file: string, text: string) => {
    writeFileSync(join(folder.path, file), text)
    // Enough for the limit, and not for the file.
    return folder.call(['import', 'shop', '--file', file, '--store', 'sqlite:rows.db'], {
      NODE_OPTIONS: '--max-old-space-size=160',
    })
  }

  test('of a CSV file is refused with its line, before it fills the memory', async () => {
    const { code, stderr } = await run('open.csv', `event_id,payload\nevt_1,a\nevt_2,"${endless}`)
    expect(stderr).toMatch(
      /The row at line 3 of the file has more than 16 MiB of text\. A quote that is not closed/,
    )
    expect(code).toBe(2)
  })

  test('of a CSV file with many short lines in one quote as well', async () => {
    const lines = `${'x'.repeat(99)}\n`.repeat(400_000)
    const { code, stderr } = await run('lines.csv', `event_id,payload\nevt_1,a\nevt_2,"${lines}`)
    expect(stderr).toContain('The row at line 3 of the file has more than 16 MiB of text.')
    expect(code).toBe(2)
  })

  test('of an NDJSON file is refused with its line, counted with empty lines', async () => {
    const { code, stderr } = await run('open.ndjson', `{"event_id":"evt_1"}\n\n{"event_id":"${endless}`)
    expect(stderr).toContain('The row at line 3 of the file has more than 16 MiB of text.')
    expect(code).toBe(2)
  })

  test('with too many cells is refused', async () => {
    const { code, stderr } = await run('cells.csv', `event_id\nevt_1\n${','.repeat(1_000_000)}\n`)
    expect(stderr).toContain('The row at line 3 of the file has more than 10000 cells.')
    expect(code).toBe(2)
  })
})

test('cells of a CSV file may hold quotes, separators and line ends, across pieces of the file', async () => {
  const { fileRows } = await import('#dist/cli/import/rows.js')
  const text = '\ufeffid,"a ""b""",c\r\n1,"x, ""y""\r\nz",\r\n\r\n2,plain "text",last'
  for (const size of [1, 2, 3, 7, 1_000]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    )
    const rows = []
    for await (const row of fileRows(
      Readable.from(
        pieces.map((piece) => Buffer.from(piece)),
        { objectMode: false },
      ),
    ))
      rows.push(row)
    expect(rows).toEqual([
      { id: '1', 'a "b"': 'x, "y"\r\nz', c: null },
      { id: '2', 'a "b"': 'plain "text"', c: 'last' },
    ])
  }
})
