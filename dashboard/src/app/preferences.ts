/** Choices of the person, kept in this browser: theme, times, live mode. */
import { useSyncExternalStore } from 'react'

export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly times: 'relative' | 'local' | 'utc'
}

const KEY = 'hookonce.preferences'
const defaults: Preferences = { theme: 'system', times: 'relative' }
const watchers = new Set<() => void>()
let current: Preferences = read()

function read(): Preferences {
  try {
    const { theme, times } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : defaults.theme,
      times: times === 'local' || times === 'utc' ? times : defaults.times,
    }
  } catch {
    return defaults // storage may be forbidden
  }
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(current))
  } catch {
    // The choice lasts as long as the page.
  }
  applyTheme()
  for (const watcher of watchers) watcher()
}

// Outside of the hook: a new function for each rendering would subscribe again, in every row of a list.
function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(watch, () => current)
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
systemIsDark.addEventListener('change', applyTheme)

export function applyTheme(): void {
  const dark = current.theme === 'dark' || (current.theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  for (const watcher of watchers) watcher()
}
