/** The state of an event, in the same words and colours everywhere. */
import type { EventView } from '../api/client'

export type Shown = 'pending' | 'processing' | 'succeeded' | 'retrying' | 'dead' | 'ignored'

const stateLabels: Readonly<Record<Shown, string>> = {
  pending: 'Pending',
  processing: 'Processing',
  succeeded: 'Succeeded',
  retrying: 'Retrying',
  dead: 'Dead letter',
  ignored: 'Ignored',
}

export const stateOptions = Object.entries(stateLabels) as [Shown, string][]

/** `failed` is two things for a person: it is tried again by itself, or it waits for somebody. */
export function shownState({ state, dead }: Pick<EventView, 'state' | 'dead'>): Shown {
  if (state === 'failed') return dead ? 'dead' : 'retrying'
  return state
}

/** Other content came under its id, and nobody has decided about it. */
export function hasOpenConflict({ lastConflict }: Pick<EventView, 'lastConflict'>): boolean {
  return lastConflict?.decidedAt === null
}

export function StateBadge({ event }: { readonly event: Pick<EventView, 'state' | 'dead'> }) {
  const shown = shownState(event)
  return <span className={`state ${shown}`}>{stateLabels[shown]}</span>
}

export function Tag({ tone, children }: { readonly tone: Shown; readonly children: string }) {
  return <span className={`tag ${tone}`}>{children}</span>
}
