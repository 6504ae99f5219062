/** Where events are sent on to: health, queue, pause and resume. */
import { useQuery } from '@tanstack/react-query'
import { api, type Body, take } from '../../api/client'
import { destinationsQuery } from '../../api/screen-queries'
import { useMay } from '../../api/session'
import { number, visible } from '../../app/format'
import { Card, Facts } from '../../ui/card'
import { Notice } from '../../ui/feedback'
import { EmptyScreen, Screen } from '../../ui/page'
import { PauseButton } from '../../ui/pause-button'
import { Tag } from '../../ui/state'
import { Time } from '../../ui/time'

type Destination = Body<'listDestinations'>['destinations'][number]

export function Destinations() {
  const query = useQuery(destinationsQuery)
  return (
    <Screen title="Destinations" to={query} what="the destinations">
      {({ destinations }) =>
        destinations.length === 0 ? (
          <EmptyScreen title="No destination is configured">
            <p>
              <code>destinations</code> in the configuration sends events on to other endpoints, signed and
              once each.
            </p>
          </EmptyScreen>
        ) : (
          <div className="stack">
            {destinations.map((destination) => (
              <DestinationCard key={destination.name} destination={destination} />
            ))}
          </div>
        )
      }
    </Screen>
  )
}

const pauseReasons: Readonly<Record<string, string>> = {
  failing: 'too many failures in a row, as this process has seen it',
  gone: 'it answered 410, it is gone',
  operator: 'in all processes, until somebody resumes it',
}

function healthOf({ paused, failuresInARow, sent, failed }: Destination) {
  if (paused) return <Tag tone="retrying">Paused</Tag>
  if (failuresInARow > 0) return <Tag tone="dead">Failing</Tag>
  return sent + failed === 0 ? (
    <Tag tone="pending">Nothing sent yet</Tag>
  ) : (
    <Tag tone="succeeded">Healthy</Tag>
  )
}

function DestinationCard({ destination }: { readonly destination: Destination }) {
  const may = useMay()
  const { name, paused } = destination
  return (
    <Card
      title={visible(name)}
      aside={
        <div className="line">
          {healthOf(destination)}
          {may.act ? (
            <PauseButton
              name={name}
              paused={paused}
              consequence="Events for it wait, and are sent when it is resumed. Other destinations and handlers go on."
              act={(verb, note) =>
                take(
                  api.POST(`/api/destinations/{name}/${verb}`, {
                    params: { path: { name } },
                    body: { note },
                  }),
                )
              }
            />
          ) : null}
        </div>
      }
    >
      <div className="stack">
        {destination.pauseReason ? (
          <Notice tone="retrying">
            Paused <Time at={destination.pausedAt} />
            {destination.pausedBy === null ? null : ` by ${visible(destination.pausedBy)}`}:{' '}
            {pauseReasons[destination.pauseReason] ?? visible(destination.pauseReason)}
            {destination.nextProbeAt ? (
              <>
                . The next probe is <Time at={destination.nextProbeAt} />.
              </>
            ) : null}
          </Notice>
        ) : null}
        <div className="grid-2">
          <Facts
            of={[
              [
                'Sends to',
                <span key="o" className="mono">
                  {visible(destination.origin)}
                </span>,
              ],
              ['Sources', destination.sources.map(visible).join(', ') || 'all'],
              ['Types', destination.types.map(visible).join(', ') || 'all'],
              ['Waiting', number(destination.waiting)],
              ['Being sent', number(destination.active)],
            ]}
          />
          <Facts
            of={[
              ['Sent', number(destination.sent)],
              ['Failed', number(destination.failed)],
              ['Postponed', number(destination.postponed)],
              ['Failures in a row', number(destination.failuresInARow)],
              ['Last sent', <Time key="s" at={destination.lastSentAt} none="never" />],
              ['Last failure', <Time key="f" at={destination.lastFailedAt} none="never" />],
              destination.lastHttpStatus !== null && ['Last answer', String(destination.lastHttpStatus)],
              destination.lastProblem !== null && ['Last problem', visible(destination.lastProblem)],
            ]}
          />
        </div>
      </div>
    </Card>
  )
}
