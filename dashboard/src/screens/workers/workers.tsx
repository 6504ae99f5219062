/** Who handles events now: leases, heartbeats and versions. */
import { useQuery } from '@tanstack/react-query'
import type { Body } from '../../api/client'
import { workersQuery } from '../../api/screen-queries'
import { number, visible } from '../../app/format'
import { Card, PageHead } from '../../ui/card'
import { Loading, Notice, Problem } from '../../ui/feedback'
import { Tag } from '../../ui/state'
import { TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

type Answer = Body<'listWorkers'>

export function Workers() {
  const { data, error, refetch } = useQuery(workersQuery)
  const versions = new Set(data?.processes.filter(({ alive }) => alive).map(({ version }) => version))
  return (
    <>
      <PageHead title="Workers" />
      {error && !data ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined && !error ? <Loading what="the workers" /> : null}
      {data ? (
        <div className="stack">
          {versions.size > 1 ? (
            <Notice tone="retrying">
              Processes of {versions.size} versions run on this log: {[...versions].join(', ')}. That is fine
              during a deployment.
            </Notice>
          ) : null}
          <Leases workers={data.workers} />
          <Processes processes={data.processes} />
        </div>
      ) : null}
    </>
  )
}

function Leases({ workers }: Pick<Answer, 'workers'>) {
  return (
    <Card title="Leases" flush>
      {workers.length === 0 ? (
        <p className="empty">No event is being handled at the moment.</p>
      ) : (
        <TableBox label="Table of leases">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col">State</th>
              <th scope="col" className="num">
                Events
              </th>
              <th scope="col">Oldest claimed</th>
              <th scope="col">Lease ends</th>
              <th scope="col">Version</th>
            </tr>
          </thead>
          <tbody>
            {workers.map(({ worker, leases, expired, oldestClaimedAt, expiresAt, process }) => (
              <tr key={worker}>
                <td className="mono wrap">{visible(worker)}</td>
                <td>
                  {expired > 0 ? (
                    <Tag tone="dead">{`${number(expired)} expired`}</Tag>
                  ) : (
                    <Tag tone="processing">Working</Tag>
                  )}
                </td>
                <td className="num">{number(leases)}</td>
                <td>
                  <Time at={oldestClaimedAt} />
                </td>
                <td>
                  <Time at={expiresAt} />
                </td>
                <td>{process?.version ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </TableBox>
      )}
    </Card>
  )
}

function Processes({ processes }: Pick<Answer, 'processes'>) {
  return (
    <Card title="Processes" flush>
      <TableBox label="Table of processes">
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">State</th>
            <th scope="col">Process</th>
            <th scope="col">Version</th>
            <th scope="col">Node</th>
            <th scope="col">Started</th>
            <th scope="col">Last heartbeat</th>
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => (
            <tr key={process.id}>
              <td>{visible(process.host)}</td>
              <td>{process.alive ? <Tag tone="succeeded">Running</Tag> : <Tag tone="ignored">Gone</Tag>}</td>
              <td className="mono">
                {process.pid}
                {process.worker === null ? <span className="faint"> receives only</span> : null}
              </td>
              <td>{process.version}</td>
              <td>{process.node}</td>
              <td>
                <Time at={process.startedAt} />
              </td>
              <td>
                <Time at={process.seenAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </TableBox>
    </Card>
  )
}
