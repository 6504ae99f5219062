/** Why is this row like this? The event whose handler last wrote a row of the application. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, type Body, take } from '../../api/client'
import { visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { Problem } from '../../ui/feedback'
import { Time } from '../../ui/time'

const words: Readonly<Record<Body<'getRowWriter'>['found'], string>> = {
  attempt: 'It was last written by the transaction of:',
  near: 'No attempt has recorded its transaction. If a handler wrote it inside a savepoint, it was probably one of these; otherwise another program wrote it after them.',
  none: 'No attempt has recorded its transaction: another program wrote it, it is older than the log, or it was restored from a dump.',
}

export function RowWriterCard() {
  const [table, setTable] = useState('')
  const [key, setKey] = useState('')
  const asked = useMutation({
    mutationFn: () => take(api.GET('/api/why', { params: { query: { table, key, note: 'dashboard' } } })),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (table.trim() !== '' && key.trim() !== '') asked.mutate()
  }
  return (
    <Card title="Why is this row like this?">
      <div className="stack">
        <form className="line" onSubmit={submit} aria-label="Who wrote a row">
          <input
            className="input mono"
            aria-label="Table"
            placeholder="orders"
            spellCheck={false}
            maxLength={255}
            value={table}
            onChange={(event) => setTable(event.target.value)}
          />
          <input
            className="input mono"
            aria-label="Key"
            placeholder="42, or order_id=7 line=1"
            spellCheck={false}
            maxLength={1_000}
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
          <Button small type="submit" icon="search">
            Ask
          </Button>
          <span className="faint">Names the event that last wrote it. It is written to the audit.</span>
        </form>
        {asked.error ? <Problem error={asked.error} /> : null}
        {asked.data ? (
          <div className="stack" role="status">
            <p>
              <span className="mono">{visible(asked.data.table)}</span>: {words[asked.data.found]}
            </p>
            <ul>
              {asked.data.attempts.map(({ source, id, type, attempt, outcome, finishedAt }) => (
                <li key={`${source} ${id} ${attempt}`} className="wrap">
                  <Link to="/events/$source/$id" params={{ source, id }} className="mono">
                    {visible(id)}
                  </Link>{' '}
                  {visible(source)} {visible(type)}, attempt {attempt}: {outcome} <Time at={finishedAt} />
                </li>
              ))}
            </ul>
          </div>
        ) : null}
      </div>
    </Card>
  )
}
