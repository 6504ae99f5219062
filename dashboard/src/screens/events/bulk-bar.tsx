/** What can be done with the chosen rows. The dialog that follows counts first and asks. */
import { useState } from 'react'
import { base } from '../../app/base'
import { count } from '../../app/format'
import { type EventsSearch, stringifySearch } from '../../app/search'
import { Button } from '../../ui/button'
import { BulkDialog } from '../actions/bulk-dialog'
import type { Verb } from '../actions/use-action'
import css from './bulk-bar.module.css'
import { bodyOf, describe, queryOf } from './filters'
import type { Selection } from './selection'

interface BulkBarProps {
  readonly search: EventsSearch
  readonly selection: Selection
  readonly onDone: () => void
}

export function BulkBar({ search, selection, onDone }: BulkBarProps) {
  const [verb, setVerb] = useState<Verb | null>(null)
  const { events, all } = selection
  // The matches of a search are not a filter that an action can repeat.
  const canChooseAll = search.q === undefined && search.path === undefined
  const target = all
    ? { filter: bodyOf(search), text: describe(search) }
    : {
        events: events.map(({ source, id }) => ({ source, id })),
        text: count(events.length, 'chosen event'),
      }
  return (
    <section className={`line ${css.bulk}`} aria-label="Chosen events">
      <b>{all ? 'All that match' : count(events.length, 'event')}</b>
      {!all && canChooseAll ? (
        <Button small look="quiet" onClick={selection.chooseAll}>
          Choose all that match
        </Button>
      ) : null}
      <span className="spread" />
      <Button small icon="retry" onClick={() => setVerb('retry')}>
        Retry
      </Button>
      <Button small icon="play" onClick={() => setVerb('replay')}>
        Replay
      </Button>
      <Button small icon="ban" onClick={() => setVerb('ignore')}>
        Ignore
      </Button>
      <Button small icon="download" onClick={() => exportEvents(search, selection)}>
        Export
      </Button>
      <Button small look="quiet" onClick={selection.clear}>
        Clear
      </Button>
      {verb ? (
        <BulkDialog
          verb={verb}
          target={target}
          onClose={() => setVerb(null)}
          onDone={() => {
            selection.clear()
            onDone()
          }}
        />
      ) : null}
    </section>
  )
}

/** The chosen rows are already here; all that match come from the server, as it reads them. */
function exportEvents(search: EventsSearch, { all, events }: Selection): void {
  const link = document.createElement('a')
  if (all) {
    link.href = `${base}/api/export${stringifySearch({ ...queryOf(search), format: 'ndjson' })}`
  } else {
    const lines = events.map((event) => `${JSON.stringify(event)}\n`)
    link.href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
  }
  link.download = 'events.ndjson'
  link.click()
  if (!all) URL.revokeObjectURL(link.href)
}
