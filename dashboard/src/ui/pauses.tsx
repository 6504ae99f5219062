/** What operators have paused, for all processes of the log: who, since when, and the way back. */
import { useQuery } from '@tanstack/react-query'
import { api, type Body, take } from '../api/client'
import { pausesQuery } from '../api/screen-queries'
import { useMay } from '../api/session'
import { visible } from '../app/format'
import { Notice } from './feedback'
import { PauseButton } from './pause-button'
import { Time } from './time'

export type Pause = Body<'listPauses'>['pauses'][number]

/** `stripe` or `stripe invoice.*` */
function nameOf({ source, type }: Pick<Pause, 'source' | 'type'>): string {
  return visible(type === null ? source : `${source} ${type}`)
}

export function PausedBy({ pause }: { readonly pause: Pause }) {
  return (
    <>
      by {visible(pause.actor)} <Time at={pause.at} />
      {pause.note ? `: ${visible(pause.note)}` : null}
    </>
  )
}

interface PauseControlProps extends Pick<Pause, 'source' | 'type'> {
  /** The pause that holds these events back, which may be a wider one. */
  readonly pause: Pause | null
}

/** Viewers get no button. */
export function PauseControl({ source, type, pause }: PauseControlProps) {
  const may = useMay()
  if (!may.act) return null
  const of = pause ?? { source, type }
  const events = type === null ? `All events of ${source}` : `Its events of the type ${type}`
  return (
    <PauseButton
      name={nameOf(of)}
      paused={pause !== null}
      consequence={`${visible(events)} wait until somebody resumes them, in all processes and after a restart. They are still received and recorded.`}
      act={(verb, note) => {
        const body = { source: of.source, note, ...(of.type !== null && { type: of.type }) }
        return take(api.POST(`/api/${verb}`, { body }))
      }}
    />
  )
}

/** The pauses of a source and its consumers, or all. */
export function PauseNotices({ source }: { readonly source?: string }) {
  const pauses = useQuery(pausesQuery).data?.pauses ?? []
  const shown = pauses.filter((pause) => source === undefined || pause.source.split('/')[0] === source)
  return shown.map((pause) => (
    <Notice key={nameOf(pause)} tone="retrying">
      <div className="line apart">
        <span>
          <b>{nameOf(pause)}</b> is paused, <PausedBy pause={pause} />
        </span>
        <PauseControl source={pause.source} type={pause.type} pause={pause} />
      </div>
    </Notice>
  ))
}

export function usePauseOf(source: string): Pause | null {
  const pauses = useQuery(pausesQuery).data?.pauses ?? []
  return pauses.find((pause) => pause.source === source && pause.type === null) ?? null
}
