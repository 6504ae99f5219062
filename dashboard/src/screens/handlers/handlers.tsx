/** The handlers of the process that answers: what they did, how long they take, and pause and resume. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Body } from '../../api/client'
import { handlersQuery } from '../../api/screen-queries'
import { count, duration, ms, number, visible } from '../../app/format'
import { useNow } from '../../app/now'
import { Box, Footnote } from '../../ui/card'
import { EmptyScreen, Screen } from '../../ui/page'
import { PauseControl, PausedBy } from '../../ui/pauses'
import { Tag } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

type Handler = Body<'listHandlers'>['handlers'][number]

export function Handlers() {
  const query = useQuery(handlersQuery)
  return (
    <Screen title="Handlers" to={query} what="the handlers">
      {({ handlers, startedAt, process }) =>
        handlers.length === 0 ? (
          <EmptyScreen title="No handler in this process">
            <p>
              Register one with <code>inbox.on(source, type, handler)</code>, or look at a process that runs
              workers.
            </p>
          </EmptyScreen>
        ) : (
          <Box label="List of handlers">
            <TableBox
              label="Table of handlers"
              columns={[
                'Source',
                'Types',
                'State',
                ...num('Rate', 'Attempts', 'Failed', 'Retries', 'Dead', 'p50', 'p95', 'p99'),
                ['Actions', 'hidden'],
              ]}
            >
              {[...handlers].sort(busiestFirst).map((handler) => (
                <HandlerRow
                  key={`${handler.source} ${handler.pattern}`}
                  handler={handler}
                  startedAt={startedAt}
                />
              ))}
            </TableBox>
            <Footnote>
              The handlers of process {process}, since it started <Time at={startedAt} />. A pause holds for
              all processes of the log.
            </Footnote>
          </Box>
        )
      }
    </Screen>
  )
}

function busiestFirst(a: Handler, b: Handler): number {
  return b.since.attempts - a.since.attempts
}

function HandlerRow({ handler, startedAt }: { readonly handler: Handler; readonly startedAt: string }) {
  const { source, pattern, kind, pause, active, since, duration: took, timeoutMs, maxAttempts } = handler
  const settings = [
    kind === 'one' ? null : kind,
    timeoutMs === null ? null : `timeout ${duration(timeoutMs)}`,
    maxAttempts === null ? null : count(maxAttempts, 'attempt'),
    handler.order === null ? null : `ordered by ${handler.order}`,
  ].filter((text) => text !== null)
  return (
    <tr>
      <td>
        <Link to="/sources/$source" params={{ source: source.replace(/\/.*/, '') }}>
          {visible(source)}
        </Link>
      </td>
      <td>
        <Link to="/events" search={{ source, type: pattern === '*' ? undefined : pattern }} className="mono">
          {visible(pattern)}
        </Link>
        <div className="faint">{settings.join(', ')}</div>
      </td>
      <td>
        {pause ? (
          <>
            <Tag tone="retrying">Paused</Tag>
            <div className="faint">
              <PausedBy pause={pause} />
            </div>
          </>
        ) : active > 0 ? (
          <Tag tone="processing">{`${number(active)} running`}</Tag>
        ) : (
          <Tag tone="pending">Waiting</Tag>
        )}
      </td>
      <td className="num">
        <Rate attempts={since.attempts} startedAt={startedAt} />
      </td>
      <td className="num">{number(since.attempts)}</td>
      <td className="num">{number(since.failed)}</td>
      <td className="num">{number(since.retries)}</td>
      <td className="num">{number(since.dead)}</td>
      <td className="num">{ms(took.p50Ms)}</td>
      <td className="num">{ms(took.p95Ms)}</td>
      <td className="num">{ms(took.p99Ms)}</td>
      <td>
        <PauseControl source={source} type={pattern === '*' ? null : pattern} pause={pause} />
      </td>
    </tr>
  )
}

/** The mean since the process started. */
function Rate({ attempts, startedAt }: { readonly attempts: number; readonly startedAt: string }) {
  const minutes = Math.max(1, (useNow() - Date.parse(startedAt)) / 60_000)
  const rate = attempts / minutes
  return <>{attempts === 0 ? '–' : `${rate < 10 ? rate.toFixed(1) : number(Math.round(rate))}/min`}</>
}
