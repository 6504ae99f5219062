/** An operator decides about a conflict: the other content runs, or the first is kept. */
import type { EventView } from '../../api/client'
import { visible } from '../../app/format'
import { ActionDialog } from '../actions/action-dialog'

export interface Decision {
  readonly verb: 'replay' | 'ignore'
  /** The content that the person has seen. Another one may come while the dialog is open. */
  readonly hash: string
}

const words = {
  replay: {
    name: 'Run the other content',
    consequence:
      'The two contents change places, and the event runs again with the other one, as a new run. Effects that ctx.once has finished do not happen again; other effects do.',
    done: 'The other content runs.',
  },
  ignore: {
    name: 'Keep the first',
    consequence:
      'The conflict with this content is closed, and nothing else changes. The same other content does not open it again; a third one does.',
    done: 'The first content is kept.',
  },
} as const

interface DecideDialogProps {
  readonly event: EventView
  readonly decision: Decision
  readonly onClose: () => void
}

export function DecideDialog({ event, decision: { verb, hash }, onClose }: DecideDialogProps) {
  const { name, consequence, done } = words[verb]
  return (
    <ActionDialog
      event={event}
      verb={verb}
      conflict={hash}
      title={name}
      description={consequence}
      confirm={name}
      done={() => `${done} ${visible(event.id)}`}
      onClose={onClose}
    />
  )
}
