/** What can be done with the chosen rows. The dialog that follows counts first and asks. */
import { useState } from 'react'
import { count } from '../../app/format'
import type { EventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { type Shown, shownState } from '../../ui/state'
import { BulkDialog } from '../actions/bulk-dialog'
import type { Verb } from '../actions/use-action'
import { verbIcons, verbNames, verbsFor, verbsForAll } from '../actions/words'
import css from './bulk-bar.module.css'
import { bodyOf, describe, stateChoice } from './filters'
import type { Selection } from './selection'

interface BulkBarProps {
  readonly search: EventsSearch
  readonly selection: Selection
  readonly onDone: () => void
}

export function BulkBar({ search, selection, onDone }: BulkBarProps) {
  const [verb, setVerb] = useState<Verb | null>(null)
  const { events, all } = selection
  const choice = stateChoice(search)
  const states = all ? (choice ? [choice] : (Object.keys(verbsFor) as Shown[])) : events.map(shownState)
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
      {verbsForAll(states).map((one) => (
        <Button key={one} small icon={verbIcons[one]} onClick={() => setVerb(one)}>
          {verbNames[one]}
        </Button>
      ))}
      {all ? null : (
        <Button small icon="download" onClick={() => download(events)}>
          Export
        </Button>
      )}
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

/** The chosen rows; `hookonce events export` writes all that match. */
function download(events: Selection['events']): void {
  const link = document.createElement('a')
  const lines = events.map((event) => `${JSON.stringify(event)}\n`)
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
  link.download = 'events.ndjson'
  link.click()
  URL.revokeObjectURL(link.href)
}
