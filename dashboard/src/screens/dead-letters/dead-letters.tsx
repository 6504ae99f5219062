/** Dead letters grouped by error: one cause is one row, however many events it stopped. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Body } from '../../api/client'
import { deadLettersQuery } from '../../api/screen-queries'
import { useMay } from '../../api/session'
import { count, number, visible } from '../../app/format'
import { eventsSearch } from '../../app/search'
import { Button } from '../../ui/button'
import { Box } from '../../ui/card'
import { Notice } from '../../ui/feedback'
import css from '../../ui/group.module.css'
import { EmptyScreen, Screen } from '../../ui/page'
import { Time } from '../../ui/time'
import { BulkDialog } from '../actions/bulk-dialog'
import type { Verb } from '../actions/use-action'
import { bodyOf } from '../events/filters'

type Group = Body<'listDeadLetters'>['groups'][number]

export function DeadLetters() {
  const query = useQuery(deadLettersQuery)
  const [order, setActing] = useState<{ group: Group; verb: Verb } | null>(null)
  return (
    <>
      <Screen
        title="Dead letters"
        head={
          <Link to="/events" search={{ state: 'failed', dead: 'true' }} className="button small">
            As a list
          </Link>
        }
        to={query}
        what="dead letters"
      >
        {({ groups, cut, scanned }) =>
          groups.length === 0 ? (
            <EmptyScreen title="No dead letters">
              Every failed event is still being tried again, or was handled.
            </EmptyScreen>
          ) : (
            <div className="stack">
              {cut ? (
                <Notice tone="retrying">
                  There are more than the {number(scanned)} newest dead letters, which are grouped here.
                </Notice>
              ) : null}
              <Box label="Groups of dead letters">
                {groups.map((group) => (
                  <GroupRow
                    key={`${group.source} ${group.error} ${group.sample.id}`}
                    group={group}
                    onAction={(verb) => setActing({ group, verb })}
                  />
                ))}
              </Box>
            </div>
          )
        }
      </Screen>
      {order ? (
        <BulkDialog
          verb={order.verb}
          target={{
            filter: bodyOf(eventsSearch(order.group.filter)),
            text: `${count(order.group.count, 'dead letter')} of ${visible(order.group.source)}`,
          }}
          onClose={() => setActing(null)}
          onDone={() => void query.refetch()}
        />
      ) : null}
    </>
  )
}

function GroupRow({ group, onAction }: { readonly group: Group; readonly onAction: (verb: Verb) => void }) {
  const may = useMay()
  const { source, error, types, firstAt, lastAt, sample } = group
  return (
    <div className={`${css.group} dead`}>
      <div className="stack tight">
        <p className={`${css.error} mono wrap`}>
          {error === null ? 'The error is not shown to your role' : visible(error)}
        </p>
        <p className="muted wrap">
          {visible(source)} · {types.slice(0, 5).map(visible).join(', ')}
          {types.length > 5 ? ` and ${number(types.length - 5)} more types` : ''}
        </p>
        <p className="faint">
          First <Time at={firstAt} />, last <Time at={lastAt} />. Example:{' '}
          <Link to="/events/$source/$id" params={sample} className="mono">
            {visible(sample.id)}
          </Link>
        </p>
      </div>
      <p className={css.count}>{number(group.count)}</p>
      <div className="line">
        {may.act ? (
          <>
            <Button small look="primary" icon="retry" onClick={() => onAction('retry')}>
              Retry these {number(group.count)}
            </Button>
            <Button small icon="ban" onClick={() => onAction('ignore')}>
              Ignore
            </Button>
          </>
        ) : null}
        <Link to="/events" search={eventsSearch(group.filter)} className="button small quiet">
          Show events
        </Link>
      </div>
    </div>
  )
}
