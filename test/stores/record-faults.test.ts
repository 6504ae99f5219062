/** Failures of record: 400 only where the delivery itself is to blame, 503 for every fault of the store. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Bench, onBothLogs, onLog, post } from '../support/processing.js'

async function answers(bench: Bench, ids: readonly string[]): Promise<Record<string, number>> {
  const { inbox } = bench.inbox({ processing: false })
  await inbox.start()
  const receipts = await Promise.all(ids.map((id) => post(inbox, { id })))
  return Object.fromEntries(receipts.map(({ httpStatus }, i) => [ids[i]!, httpStatus]))
}

const recorded = async (bench: Bench) =>
  (await bench.rows('select event_id from log.events order by event_id')).map((row) => row.event_id)

/** The same fault in the words of each store. */
function faults({ kind }: Bench): Record<string, string> {
  if (kind === 'SQLite')
    return {
      'a trigger that fails for one row': `create trigger somebodys before insert on log.events
        when new.event_id = 'bad' begin select raise(abort, 'no'); end`,
      'a NOT NULL constraint': `create trigger somebodys before insert on log.payloads
        when (select event_id from log.events where seq = new.seq) = 'bad'
        begin insert into log.payloads (seq, received_at, headers, body) values (new.seq, 0, null, ''); end`,
      'a trigger that drops one row': `create trigger somebodys before insert on log.events
        when new.event_id = 'bad' begin select raise(ignore); end`,
    }
  return {
    'a trigger that fails for one row': `create function log.no() returns trigger language plpgsql as
      $$ begin raise exception 'no'; end $$; create trigger somebodys before insert on log.events for each row
      when (new.event_id = 'bad') execute function log.no()`,
    'a CHECK constraint': `alter table log.events add constraint somebodys check (event_id <> 'bad')`,
    'a NOT NULL constraint': `create function log.none() returns trigger language plpgsql as
      $$ begin new.event_type := null; return new; end $$; create trigger somebodys before insert on log.events
      for each row when (new.event_id = 'bad') execute function log.none()`,
    'a trigger that drops one row': `create function log.drops() returns trigger language plpgsql as
      $$ begin return null; end $$; create trigger somebodys before insert on log.events for each row
      when (new.event_id = 'bad') execute function log.drops()`,
  }
}

onBothLogs((bench) => {
  const names = [
    'a trigger that fails for one row',
    'a trigger that drops one row',
    'a CHECK constraint',
    'a NOT NULL constraint',
  ]
  for (const name of names)
    test(`${name} on a table of hookonce is answered 503, and the neighbours of the row are recorded`, async () => {
      await bench.store().migrate()
      const fault = faults(bench)[name]
      if (fault === undefined) return
      await bench.log.sql(fault)
      expect(await answers(bench, ['a', 'bad', 'b'])).toEqual({ a: 200, bad: 503, b: 200 })
      expect(await answers(bench, ['bad'])).toEqual({ bad: 503 })
      expect(await recorded(bench)).toEqual(['a', 'b'])
    })

  test('a known event is answered 200 beside one that cannot be recorded', async () => {
    const store = bench.store()
    await store.migrate()
    const event = (id: string) => ({ id, type: 't', reference: null, contentHash: null, guardHash: null })
    const delivery = (id: string) =>
      ({
        source: 'shop',
        headers: {},
        body: new Uint8Array(1),
        events: [event(id)],
        contentGuard: 'review',
      }) as const
    await store.record([delivery('known')])
    await bench.log.sql(faults(bench)['a trigger that fails for one row']!)
    const verdicts = await store.record([delivery('known'), delivery('bad')])
    expect(verdicts.flat().map(({ status }) => status)).toEqual(['duplicate', 'refused'])
  })

  test('other content that cannot be kept is answered 503, and its neighbours are recorded', async () => {
    await bench.store().migrate()
    const { inbox } = bench.inbox({ processing: false })
    await inbox.start()
    await post(inbox, { id: 'known', amount: 1 })
    const text = `create trigger somebodys before insert on log.conflicts`
    await bench.log.sql(
      bench.kind === 'SQLite'
        ? `${text} begin select raise(abort, 'no'); end`
        : `create function log.no() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
           ${text} for each row execute function log.no()`,
    )
    const bodies = [{ id: 'a' }, { id: 'known', amount: 2 }, { id: 'b' }]
    const receipts = await Promise.all(bodies.map((body) => post(inbox, body)))
    expect(receipts.map(({ httpStatus }) => httpStatus)).toEqual([200, 503, 200])
    expect((await post(inbox, { id: 'known', amount: 1 })).httpStatus).toBe(200)
    expect((await post(inbox, { id: 'known', amount: 2 })).httpStatus).toBe(503)
    expect(await recorded(bench)).toEqual(['a', 'b', 'known'])
    await bench.log.sql(
      bench.kind === 'SQLite' ? 'drop trigger somebodys' : 'drop trigger somebodys on log.conflicts',
    )
    expect((await post(inbox, { id: 'known', amount: 2 })).httpStatus).toBe(200)
    expect(await bench.rows('select seq from log.conflicts')).toHaveLength(1)
  })

  test('one content that cannot be kept refuses its own delivery only, also among others of the same commit', async () => {
    const store = bench.store()
    await store.migrate()
    const hash = (text: string) => createHash('sha256').update(text).digest()
    const saying = (id: string, text: string) => {
      const event = { id, type: 't', reference: null, contentHash: hash(text), guardHash: null }
      const body = Buffer.from(text)
      return { source: 'shop', headers: {}, body, events: [event], contentGuard: 'review' } as const
    }
    const ids = ['a', 'bad', 'b']
    await store.record(ids.map((id) => saying(id, 'first')))
    const bad = hash('other of bad').toString('hex')
    await bench.log.sql(
      bench.kind === 'SQLite'
        ? `create trigger somebodys before insert on log.conflicts when new.hash = x'${bad}'
           begin select raise(abort, 'no'); end`
        : `create function log.no() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
           create trigger somebodys before insert on log.conflicts for each row
           when (new.hash = '\\x${bad}') execute function log.no()`,
    )
    const verdicts = await store.record(ids.map((id) => saying(id, `other of ${id}`)))
    expect(verdicts.flat().map(({ status }) => status)).toEqual(['duplicate', 'refused', 'duplicate'])
    expect(await bench.rows('select seq from log.conflicts')).toHaveLength(2)
  })

  test('record throws when a fault of the store leaves no event recorded', async () => {
    const store = bench.store()
    await store.migrate()
    await bench.log.sql(faults(bench)['a trigger that fails for one row']!)
    const event = { id: 'bad', type: 't', reference: null, contentHash: null, guardHash: null }
    const bad = { source: 'shop', headers: {}, body: new Uint8Array(1), events: [event] }
    await expect(store.record([{ ...bad, contentGuard: 'review' }])).rejects.toMatchObject({
      code: 'STORE_FAILED',
    })
  })
})

onLog('PostgreSQL', (bench) => {
  test('the guard of an event that another process recorded first is not left behind, even when this one dies', async () => {
    const [mine, theirs] = [bench.store(), bench.store()]
    await mine.migrate()
    const hash = (text: string) => createHash('sha256').update(text).digest()
    const signed = (id: string, text: string) => {
      const event = { id, type: 't', reference: null, contentHash: hash(text), guardHash: hash(text) }
      const body = Buffer.from(text)
      return { source: 'shop', headers: {}, body, events: [event], contentGuard: 'review' } as const
    }
    // A process that dies after its insert removes nothing.
    await bench.log.sql(`create function log.keep() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger somebodys before delete on log.guards for each row execute function log.keep()`)
    for (let i = 0; i < 40; i++) {
      const [one, other] = [signed(`x${i}`, `one ${i}`), signed(`x${i}`, `other ${i}`)]
      await Promise.all([mine.record([one]), theirs.record([other])])
    }
    const stray = await bench.rows(`select g.event_id from log.guards g where not exists (
      select from log.events e where e.event_id = g.event_id and e.guard_hash = g.guard_hash)`)
    expect(stray).toEqual([])
  })

  test('a sequence at its end is answered 503', async () => {
    await bench.log.sql(`select setval('log.event_seq', 9223372036854775807)`)
    expect(await answers(bench, ['a', 'b'])).toEqual({ a: 503, b: 503 })
  })

  test('a value that is too long for an index is answered 400, and its neighbours are recorded', async () => {
    // An index row has at most 2,704 bytes; md5 texts do not compress.
    await bench.log.sql(`create function log.long(id text) returns text immutable language sql as
      $$ select case when id = 'bad' then (select string_agg(md5(n::text), '') from generate_series(1, 400) n) end $$;
      create index somebodys_long on log.events (log.long(event_id))`)
    expect(await answers(bench, ['a', 'bad', 'b'])).toEqual({ a: 200, bad: 400, b: 200 })
    expect(await recorded(bench)).toEqual(['a', 'b'])
  })
})
