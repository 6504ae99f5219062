/** The latest entries of the audit: who did what, and why. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { auditsQuery } from '../../api/screen-queries'
import { visible } from '../../app/format'
import { Card } from '../../ui/card'
import { Problem, Skeleton } from '../../ui/feedback'
import { TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

export function AuditCard() {
  const { data, error } = useQuery(auditsQuery)
  return (
    <Card title="Audit" flush>
      {error && !data ? <Problem error={error} /> : null}
      {data === undefined && !error ? (
        <div className="inside">
          <Skeleton />
        </div>
      ) : null}
      {data?.audits.length === 0 ? <p className="empty">Nothing has been done yet.</p> : null}
      {data && data.audits.length > 0 ? (
        <TableBox label="Entries of the audit">
          <thead>
            <tr>
              {['When', 'Who', 'What', 'Event', 'Reason'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.audits.map(({ id, at, actor, verb, source, eventId, reason }) => (
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
                <td className="wrap">{visible(reason)}</td>
              </tr>
            ))}
          </tbody>
        </TableBox>
      ) : null}
    </Card>
  )
}
