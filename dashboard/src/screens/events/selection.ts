/** The chosen rows: some of them, or all that match the filters. */
import { useCallback, useMemo, useState } from 'react'
import type { EventView } from '../../api/client'

export interface Selection {
  readonly events: readonly EventView[]
  /** All events that match, also those that are not loaded. */
  readonly all: boolean
  has(seq: number): boolean
  readonly set: (event: EventView, selected: boolean) => void
  setMany(events: readonly EventView[]): void
  chooseAll(): void
  clear(): void
}

export function useSelection(): Selection {
  const [chosen, setChosen] = useState<ReadonlyMap<number, EventView>>(new Map())
  const [all, setAll] = useState(false)
  const set = useCallback((event: EventView, selected: boolean) => {
    setAll(false)
    setChosen((before) => {
      const after = new Map(before)
      if (selected) after.set(event.seq, event)
      else after.delete(event.seq)
      return after
    })
  }, [])
  return useMemo(
    () => ({
      events: [...chosen.values()],
      all,
      has: (seq) => all || chosen.has(seq),
      set,
      setMany(events) {
        setAll(false)
        setChosen(new Map(events.map((event) => [event.seq, event])))
      },
      chooseAll: () => setAll(true),
      clear() {
        setAll(false)
        setChosen(new Map())
      },
    }),
    [chosen, all, set],
  )
}
