import { Link } from '@tanstack/react-router'
import type { EventView } from '../../api/client'
import { number, visible } from '../../app/format'
import { Card, Facts } from '../../ui/card'
import { Copyable } from '../../ui/copy'
import { Time } from '../../ui/time'

export function EventFacts({ event }: { readonly event: EventView }) {
  const { source, reference, references, sameAs, origin } = event
  const link = (id: string) => (
    <Link to="/events/$source/$id" params={{ source, id }} className="mono">
      {visible(id)}
    </Link>
  )
  const [first, ...others] = references
  const own = first?.value === reference ? first : undefined
  const fact = ({ label, value }: { label?: string; value: string }) => (
    <Copyable key={`${label} ${value}`} text={value} what="the reference">
      <Link
        to="/events"
        search={{ reference: value, label: label === 'reference' ? undefined : label }}
        className="mono"
      >
        <bdi>{visible(value)}</bdi>
      </Link>
    </Copyable>
  )
  return (
    <Card title="Facts">
      <Facts
        of={[
          [
            'Source',
            <Link key="s" to="/events" search={{ source }}>
              {visible(source)}
            </Link>,
          ],
          reference !== null && [own ? `Reference (${own.label})` : 'Reference', fact({ value: reference })],
          ...(own ? others : references).map((one) => [one.label, fact(one)] as const),
          ['Received', <Time key="t" at={event.receivedAt} />],
          ['Finished', <Time key="p" at={event.processedAt} none="not yet" />],
          ['Deliveries', number(event.deliveries)],
          event.deliveries > 1 && ['Last delivery', <Time key="l" at={event.lastDeliveryAt} />],
          event.conflicts > 0 && ['Conflicts', number(event.conflicts)],
          ['Attempts', number(event.attempts)],
          event.run > 1 && ['Run', number(event.run)],
          origin === 'backfill' && ['Origin', 'Not delivered: read from the API of the sender'],
          origin === 'import' && ['Origin', 'Imported from another program'],
          sameAs !== null && ['Same content as', link(sameAs)],
          event.contentHash !== null && [
            'Content hash',
            <code key="h" className="wrap">
              {event.contentHash}
            </code>,
          ],
          ['Position', number(event.seq)],
        ]}
      />
    </Card>
  )
}
