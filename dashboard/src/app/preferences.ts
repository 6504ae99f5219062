/** Choices of the person, kept in this browser. */
import { createStore } from './store'

export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark'
  readonly times: 'relative' | 'local' | 'utc'
}

const KEY = 'hookonce.preferences'
const defaults: Preferences = { theme: 'system', times: 'relative' }
const preferences = createStore(read())
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

export const usePreferences = preferences.use

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
  const next = { ...preferences.get(), ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // The choice lasts as long as the page.
  }
  apply(next)
}

/** Charts read their colours when they are drawn, so the theme is set before anybody is told. */
function apply(next: Preferences): void {
  const dark = next.theme === 'dark' || (next.theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  preferences.set(next)
}

apply(preferences.get())
systemIsDark.addEventListener('change', () => apply({ ...preferences.get() }))
