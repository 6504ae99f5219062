import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ApiError, type Body } from '../../api/client'
import { sourceQuery } from '../../api/screen-queries'
import { duration, ms, number, percent, visible } from '../../app/format'
import { Card, Facts, Footnote } from '../../ui/card'
import { CodeBlock } from '../../ui/copy'
import { Empty, Notice } from '../../ui/feedback'
import { Answer } from '../../ui/page'
import page from '../../ui/page.module.css'
import { PauseControl, PauseNotices, usePauseOf } from '../../ui/pauses'
import { Tag } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'
import { Completeness } from './completeness'
import { SendTest } from './send-test'

export type SourceDetail = Body<'getSource'>

export function Source() {
  const { source } = useParams({ from: '/sources/$source' })
  const query = useQuery(sourceQuery(source))
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <Empty title="There is no such source">
        <Link to="/sources">All sources</Link>
      </Empty>
    )
  return (
    <Answer to={query} what="the source">
      {(data) => <SourcePage source={data} />}
    </Answer>
  )
}

function SourcePage({ source }: { readonly source: SourceDetail }) {
  const pause = usePauseOf(source.name)
  return (
    <article className="stack">
      <title>{`${visible(source.name)} · hookonce`}</title>
      <header className={`stack ${page.detail}`}>
        <nav aria-label="Path" className="faint">
          <Link to="/sources">Sources</Link>
        </nav>
        <div className="line apart">
          <div className="line">
            <h1 className="wrap">{visible(source.name)}</h1>
            {source.verified ? null : <Tag tone="retrying">Not verified</Tag>}
          </div>
          <div className="line">
            {pause ? null : <PauseControl source={source.name} type={null} pause={null} />}
            <Link to="/events" search={{ source: source.name }} className="button">
              Show events
            </Link>
          </div>
        </div>
      </header>
      <PauseNotices source={source.name} />
      {source.verified ? null : (
        <Notice tone="retrying">
          Deliveries are not verified: anyone who can reach this address can record events.
        </Notice>
      )}
      {source.alarms.map(({ kind, text, todo }) => (
        <Notice key={`${kind} ${text}`} tone="dead" role="alert">
          {visible(text)} {visible(todo)}
        </Notice>
      ))}
      <div className={page.columns}>
        <div className="stack">
          <Completeness source={source} />
          <Setup source={source} />
          <SendTest source={source} />
          <Rejections source={source} />
        </div>
        <div className="stack">
          <Behaviour source={source} />
          <Secrets source={source} />
        </div>
      </div>
    </article>
  )
}

function Setup({ source }: { readonly source: SourceDetail }) {
  const { commands, provider } = source
  return (
    <Card title={`Set up at ${provider.name}`} aside={<DocsLink url={provider.docs} />}>
      <div className="stack">
        <CodeBlock title="The URL to paste" text={source.url} what="the URL" />
        <CodeBlock title="A signed test delivery from a terminal" text={commands.send} what="the command" />
        {commands.curl === null ? null : (
          <CodeBlock title="With curl" text={commands.curl} what="the command" />
        )}
      </div>
    </Card>
  )
}

/** The address is a part of the program, but only a web address becomes a link. */
function DocsLink({ url }: { readonly url: string }) {
  if (!/^https:\/\//.test(url)) return null
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Its documents
    </a>
  )
}

function Behaviour({ source }: { readonly source: SourceDetail }) {
  const { retention, retryWindowMs, toleranceMs, answer } = source
  return (
    <Card title="Facts">
      <Facts
        of={[
          ['Pass rate, 24 h', source.passRate === null ? 'no deliveries' : percent(source.passRate)],
          ['Acknowledged', `p50 ${ms(source.ack.p50Ms)}, p99 ${ms(source.ack.p99Ms)}`],
          [
            'Signature',
            `${source.scheme}${source.signatureIn.length > 0 ? `, in ${source.signatureIn.map((place) => place.replace(':', ' ')).join(', ')}` : ''}`,
          ],
          toleranceMs !== null && ['Accepted age', duration(toleranceMs)],
          ['Id is signed', source.idIsSigned ? 'yes' : 'no: known content under a new id is flagged'],
          retryWindowMs !== null && ['Sender retries for', duration(retryWindowMs)],
          source.disables !== null && ['Sender', `${source.disables.when}. ${source.disables.again}`],
          [
            'Silence',
            source.reportsSilenceAt === null ? (
              'not watched: its rhythm is not known yet, or it may be silent'
            ) : (
              <>
                reported <Time at={source.reportsSilenceAt} /> if nothing comes
              </>
            ),
          ],
          answer.timeLimitMs !== null && ['Sender waits for', duration(answer.timeLimitMs)],
          ['Handled', source.mode === 'inline' ? 'inside the request' : 'in the background'],
          ['On a conflict', source.conflict === 'ack' ? 'acknowledge, keep the first' : 'refuse'],
          ['Order', source.order === null ? 'none' : `by ${source.order}`],
          [
            'Handlers',
            source.handled.length === 0 ? 'none in this process' : source.handled.map(visible).join(', '),
          ],
          retention !== null && [
            'Kept',
            `payloads ${duration(retention.payloadsMs)}, events ${duration(retention.eventsMs)}`,
          ],
        ]}
      />
    </Card>
  )
}

function Secrets({ source: { secrets } }: { readonly source: SourceDetail }) {
  return (
    <Card title="Secrets" flush={secrets.length > 0}>
      {secrets.length === 0 ? (
        <p className="muted">This source uses no secret.</p>
      ) : (
        <>
          <TableBox label="Table of secrets" columns={['Secret', ...num('Matches')]}>
            {secrets.map(({ index, label, hits }) => (
              <tr key={index}>
                <td>
                  {label} <span className="mono faint">••••••••</span>
                </td>
                <td className="num">{number(hits)}</td>
              </tr>
            ))}
          </TableBox>
          <Footnote>
            Matches in this process since it started. An old secret without new matches can be removed.
          </Footnote>
        </>
      )}
    </Card>
  )
}

function Rejections({ source: { rejections } }: { readonly source: SourceDetail }) {
  return (
    <Card title="Rejected deliveries, 24 h" flush={rejections.length > 0}>
      {rejections.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <TableBox label="Table of rejections" columns={['Reason', 'What to do', ...num('Count')]}>
          {rejections.map(({ reason, count, todo }) => (
            <tr key={reason}>
              <td className="mono">{reason}</td>
              <td>{todo}</td>
              <td className="num">{number(count)}</td>
            </tr>
          ))}
        </TableBox>
      )}
    </Card>
  )
}
