import { useQuery } from '@tanstack/react-query'
import type { Body } from '../../api/client'
import { systemQuery } from '../../api/screen-queries'
import { useMay } from '../../api/session'
import { bytes, number, percent, visible } from '../../app/format'
import { Card, Facts } from '../../ui/card'
import { Screen } from '../../ui/page'
import { Tag } from '../../ui/state'
import { Time } from '../../ui/time'
import { AuditCard } from './audit'
import { RetentionCard } from './retention'
import { RowWriterCard } from './row-writer'
import css from './system.module.css'

export type SystemView = Body<'getSystem'>

export function System() {
  const may = useMay()
  const query = useQuery(systemQuery)
  return (
    <Screen title="System" to={query} what="the system">
      {(system) => (
        <div className="stack">
          <div className="grid-2">
            <StoreCard system={system} />
            <div className="stack">
              <ProcessCard system={system} />
              <SpoolCard spool={system.spool} />
              <SeenCard seen={system.seen} />
            </div>
          </div>
          <RetentionCard system={system} />
          {may.payload && system.store.name.startsWith('postgres:') ? <RowWriterCard /> : null}
          {may.detail ? <AuditCard /> : null}
        </div>
      )}
    </Screen>
  )
}

function StoreCard({ system: { store, storeErrors } }: { readonly system: SystemView }) {
  const { schema, findings, clockSkewMs, partitionsAhead } = store
  const errors = Object.entries(storeErrors)
  return (
    <Card
      title="Store"
      aside={store.up ? <Tag tone="succeeded">Reachable</Tag> : <Tag tone="dead">Not reachable</Tag>}
    >
      <div className="stack">
        <Facts
          of={[
            ['Kind', store.name],
            schema !== null && [
              'Schema',
              schema.found === schema.known
                ? `version ${schema.found}, current`
                : `version ${schema.found}; this program knows ${schema.known}`,
            ],
            clockSkewMs !== null && ['Clock skew', `${number(Math.round(clockSkewMs))} ms`],
            partitionsAhead !== null && ['Partitions ahead', number(partitionsAhead)],
            errors.length > 0 && [
              'Errors',
              errors.map(([code, times]) => `${code} ${number(times)}`).join(', '),
            ],
          ]}
        />
        {findings.length > 0 ? (
          <ul className={css.findings}>
            {findings.map(({ name, value, ok, fix }) => (
              <li key={name}>
                <Tag tone={ok ? 'succeeded' : 'dead'}>{ok ? 'ok' : 'check'}</Tag>
                <span className="wrap">
                  {visible(name)}: <span className="mono">{visible(value)}</span>
                  {!ok && fix ? <span className={`${css.fix} muted`}>{visible(fix)}</span> : null}
                </span>
              </li>
            ))}
          </ul>
        ) : null}
      </div>
    </Card>
  )
}

function ProcessCard({ system }: { readonly system: SystemView }) {
  return (
    <Card title="This process">
      <Facts
        of={[
          ['Version', system.version ?? 'unknown'],
          ['Node', system.node],
          ['Started', <Time key="t" at={system.startedAt} />],
          system.worker !== null && [
            'Worker',
            <span key="w" className="mono">
              {visible(system.worker)}
            </span>,
          ],
          ['Encryption', system.encryption ? 'payloads are encrypted' : 'off'],
          ['Archive', system.archive ? 'on' : 'off'],
        ]}
      />
    </Card>
  )
}

function SpoolCard({ spool }: Pick<SystemView, 'spool'>) {
  if (spool === null) {
    return (
      <Card title="Spool">
        <p className="muted">No spool. While the store is away, senders are asked to try again.</p>
      </Card>
    )
  }
  return (
    <Card
      title="Spool"
      aside={
        spool.depth > 0 ? (
          <Tag tone="retrying">{spool.draining ? 'Draining' : 'In use'}</Tag>
        ) : (
          <Tag tone="succeeded">Empty</Tag>
        )
      }
    >
      <Facts
        of={[
          ['Waiting', `${number(spool.depth)} deliveries`],
          ['Size', `${bytes(spool.bytes)} of ${bytes(spool.maxBytes)}`],
          spool.oldestAt !== null && ['Oldest', <Time key="o" at={spool.oldestAt} />],
          spool.setAside > 0 && ['Set aside, retried', number(spool.setAside)],
        ]}
      />
    </Card>
  )
}

function SeenCard({ seen }: Pick<SystemView, 'seen'>) {
  if (seen === null) return null
  const asked = seen.hits + seen.misses
  return (
    <Card title={seen.name === 'redis' ? 'Known events, in Redis' : 'Known events, in memory'}>
      <Facts
        of={[
          ['Hit rate', asked === 0 ? 'not asked yet' : percent(seen.hits / asked)],
          ['Asked', number(asked)],
          ['Errors', number(seen.errors)],
        ]}
      />
    </Card>
  )
}
