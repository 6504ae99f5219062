/** Whether the log has what the sender lists: the last comparisons, and a button for another. */
import { useMutation } from '@tanstack/react-query'
import { api, take } from '../../api/client'
import { queryClient } from '../../api/query-client'
import { useMay } from '../../api/session'
import { number, visible } from '../../app/format'
import { Button } from '../../ui/button'
import { Card, Footnote } from '../../ui/card'
import { Notice, Problem } from '../../ui/feedback'
import { num, TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'
import type { SourceDetail } from './source'

type Reconcile = NonNullable<SourceDetail['reconcile']>

export function Completeness({ source }: { readonly source: SourceDetail }) {
  const { reconcile } = source
  if (reconcile === null) return null
  return (
    <Card title={`Compared with ${source.provider.name}`}>
      <div className="stack">
        {reconcile.problem === null ? (
          <Compared source={source} reconcile={reconcile} />
        ) : (
          <p className="muted">
            The log can be compared with what {source.provider.name} has sent: {visible(reconcile.problem)}.
          </p>
        )}
      </div>
    </Card>
  )
}

function Compared({ source, reconcile }: { readonly source: SourceDetail; readonly reconcile: Reconcile }) {
  const may = useMay()
  const compare = useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/sources/{source}/reconcile', {
          params: { path: { source: source.name } },
          body: { dryRun: false },
        }),
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['source', source.name] }),
  })
  const { summary, last, every } = reconcile
  return (
    <>
      {summary === null ? (
        <p className="muted">Not compared yet.</p>
      ) : (
        <p>
          Complete until <Time at={summary.completeUntil} />, checked <Time at={summary.checkedAt} />,{' '}
          <strong>{number(summary.missing)} missing</strong>
          {summary.extra > 0 ? `, ${number(summary.extra)} that the sender does not list` : ''}.
        </p>
      )}
      {last?.state === 'running' ? (
        <p role="status">
          Comparing: up to <Time at={last.comparedUntil} />, {number(last.listed)} listed.
        </p>
      ) : null}
      {last?.disabled ? (
        <Notice tone="dead">
          {source.provider.name} has switched this endpoint off. Switch it on there.
        </Notice>
      ) : null}
      {last?.state === 'failed' ? (
        <Notice tone="retrying">The last comparison did not finish: {visible(last.error ?? '')}</Notice>
      ) : null}
      {last && last.lacking.length > 0 ? (
        <TableBox label="Table of missing events" columns={['Missing', 'Type', 'Why']}>
          {last.lacking.map(({ id, type, why }) => (
            <tr key={id}>
              <td className="mono wrap">{visible(id)}</td>
              <td className="mono">{visible(type)}</td>
              <td>{visible(why ?? '')}</td>
            </tr>
          ))}
        </TableBox>
      ) : null}
      {last ? (
        <TableBox
          label="Table of the last comparison"
          columns={['Type', ...num('Listed'), ...num('Missing'), ...num('Recovered')]}
        >
          {Object.entries(last.types).map(([type, counts]) => (
            <tr key={type}>
              <td className="mono">{visible(type)}</td>
              <td className="num">{number(counts.listed)}</td>
              <td className="num">{number(counts.missing)}</td>
              <td className="num">{number(counts.recovered)}</td>
            </tr>
          ))}
        </TableBox>
      ) : null}
      {may.act ? (
        <div className="line">
          <Button icon="play" disabled={compare.isPending} onClick={() => compare.mutate()}>
            {compare.isPending ? 'Comparing' : 'Compare the last day now'}
          </Button>
        </div>
      ) : null}
      {compare.error ? <Problem error={compare.error} /> : null}
      {last ? (
        <Footnote>
          {visible(last.proves)} {every === null ? 'There is no schedule.' : `It is compared every ${every}.`}
        </Footnote>
      ) : null}
    </>
  )
}
