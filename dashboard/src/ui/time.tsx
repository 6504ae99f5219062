/** A moment, as the person has chosen: relative, local or UTC. The tooltip has the other forms. */
import { absolute, relative } from '../app/format'
import { useTimed } from '../app/now'
import { usePreferences } from '../app/preferences'

interface TimeProps {
  readonly at: string | null | undefined
  readonly none?: string
}

export function Time({ at, none = '–' }: TimeProps) {
  const { times } = usePreferences()
  const ms = at ? Date.parse(at) : Number.NaN
  const text = useTimed((now) =>
    Number.isNaN(ms) ? none : times === 'relative' ? relative(ms, now) : absolute(ms, times === 'utc', false),
  )
  if (Number.isNaN(ms)) return <span className="faint">{none}</span>
  return (
    <time dateTime={at!} title={`${absolute(ms, false)} here · ${absolute(ms, true)}`}>
      {text}
    </time>
  )
}
