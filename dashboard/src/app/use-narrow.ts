/** Whether the window has the width of a phone. The number is the one of the style sheets. */
import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 860px)')

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      narrow.addEventListener('change', watcher)
      return () => narrow.removeEventListener('change', watcher)
    },
    () => narrow.matches,
  )
}
