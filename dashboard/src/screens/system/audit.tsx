import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { auditsQuery } from '../../api/screen-queries'
import { visible } from '../../app/format'
import { Card, Inside } from '../../ui/card'
import { Empty, Problem, Skeleton } from '../../ui/feedback'
import { TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

export function AuditCard() {
  const { data, error } = useQuery(auditsQuery)
  return (
    <Card title="Audit" flush>
      {error && !data ? <Problem error={error} /> : null}
      {data === undefined && !error ? (
        <Inside>
          <Skeleton />
        </Inside>
      ) : null}
      {data?.audits.length === 0 ? <Empty>Nothing has been done yet.</Empty> : null}
      {data && data.audits.length > 0 ? (
        <TableBox label="Entries of the audit" columns={['When', 'Who', 'What', 'Event', 'Note']}>
          {data.audits.map(({ id, at, actor, verb, source, eventId, note }) => (
            <tr key={id}>
              <td>
                <Time at={at} />
              </td>
              <td>{visible(actor)}</td>
              <td>{visible(verb)}</td>
              <td className="wrap">
                {source !== null && eventId !== null ? (
                  <Link to="/events/$source/$id" params={{ source, id: eventId }} className="mono">
                    {visible(eventId)}
                  </Link>
                ) : (
                  (source ?? '–')
                )}
              </td>
              <td className="wrap">{visible(note)}</td>
            </tr>
          ))}
        </TableBox>
      ) : null}
    </Card>
  )
}
