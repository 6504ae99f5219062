/** The state of an event, in the same words and colours everywhere. The classes of the tones are in base.css. */
import type { ReactNode } from 'react'
import type { EventView } from '../api/client'
import css from './state.module.css'

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

export function StateBadge({ event }: { readonly event: Pick<EventView, 'state' | 'dead'> }) {
  const shown = shownState(event)
  return <Badge tone={shown}>{stateLabels[shown]}</Badge>
}

interface ToneProps {
  readonly tone: Shown
  readonly children: ReactNode
}

export function Badge({ tone, children }: ToneProps) {
  return <span className={`${css.state} ${tone}`}>{children}</span>
}

export function tagClass(tone: Shown): string {
  return `${css.tag} ${tone}`
}

/** A badge without a dot. */
export function Tag({ tone, children }: ToneProps) {
  return <span className={tagClass(tone)}>{children}</span>
}

export function liveClass(tone: Shown): string {
  return `${css.live} ${tone}`
}

/** A dot with a word about now. */
export function Live({
  tone,
  className = '',
  children,
}: ToneProps & { readonly className?: string | undefined }) {
  return <span className={`${liveClass(tone)} ${className}`}>{children}</span>
}
