/** The times that the overview can show. */
import type { Window } from '../../api/screen-queries'

export const windows = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
] as const satisfies readonly (readonly [Window, string])[]

export function windowOf(text: string | undefined): Window {
  return windows.find(([name]) => name === text)?.[0] ?? '24h'
}
