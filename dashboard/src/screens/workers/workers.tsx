import { useQuery } from '@tanstack/react-query'
import type { Body } from '../../api/client'
import { workersQuery } from '../../api/screen-queries'
import { number, visible } from '../../app/format'
import { Card } from '../../ui/card'
import { Empty, Notice } from '../../ui/feedback'
import { Screen } from '../../ui/page'
import { Tag } from '../../ui/state'
import { num, TableBox } from '../../ui/table-box'
import { Time } from '../../ui/time'

type WorkersView = Body<'listWorkers'>

export function Workers() {
  const query = useQuery(workersQuery)
  return (
    <Screen title="Workers" to={query} what="the workers">
      {({ workers, processes }) => (
        <div className="stack">
          <Versions processes={processes} />
          <Leases workers={workers} />
          <Processes processes={processes} />
        </div>
      )}
    </Screen>
  )
}

function Versions({ processes }: Pick<WorkersView, 'processes'>) {
  const versions = new Set(processes.filter(({ alive }) => alive).map(({ version }) => version))
  if (versions.size < 2) return null
  return (
    <Notice tone="retrying">
      Processes of {versions.size} versions run on this log: {[...versions].join(', ')}. That is fine during a
      deployment.
    </Notice>
  )
}

function Leases({ workers }: Pick<WorkersView, 'workers'>) {
  return (
    <Card title="Leases" flush>
      {workers.length === 0 ? (
        <Empty>No event is being handled at the moment.</Empty>
      ) : (
        <TableBox
          label="Table of leases"
          columns={['Worker', 'State', ...num('Events'), 'Oldest claimed', 'Lease ends', 'Version']}
        >
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
        </TableBox>
      )}
    </Card>
  )
}

function Processes({ processes }: Pick<WorkersView, 'processes'>) {
  return (
    <Card title="Processes" flush>
      <TableBox
        label="Table of processes"
        columns={['Host', 'State', 'Process', 'Version', 'Node', 'Started', 'Last heartbeat']}
      >
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
      </TableBox>
    </Card>
  )
}
