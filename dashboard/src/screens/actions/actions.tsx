/** Retry, replay or ignore one event. */
import { useState } from 'react'
import type { EventView } from '../../api/client'
import { visible } from '../../app/format'
import { Segments } from '../../ui/segments'
import { shownState } from '../../ui/state'
import { ActionDialog } from './action-dialog'
import type { Verb } from './use-action'
import { consequences, verbNames, verbsFor } from './words'

interface OrdersProps {
  readonly event: EventView
  readonly verb?: Verb | undefined
  readonly onClose: () => void
  readonly onDone?: () => void
}

export function Actions({ event, verb: given, onClose, onDone }: OrdersProps) {
  const offered = verbsFor[shownState(event)]
  // The event may be in work: then the server says why nothing can be done.
  const [verb, setVerb] = useState<Verb>(given ?? offered[0] ?? 'retry')
  const name = verbNames[verb]
  return (
    <ActionDialog
      event={event}
      verb={verb}
      title={`${name} ${visible(event.id)}`}
      description={consequences[verb]}
      confirm={verb === 'replay' && event.state === 'succeeded' ? 'Replay with force' : name}
      look={verb === 'ignore' ? 'danger' : 'primary'}
      done={(to) => `${name}: ${visible(event.id)} is now ${to}.`}
      onClose={onClose}
      onDone={onDone}
    >
      {offered.length > 1 ? (
        <Segments
          label="Action"
          value={verb}
          options={offered.map((one) => [one, verbNames[one]])}
          onChange={setVerb}
        />
      ) : null}
    </ActionDialog>
  )
}
