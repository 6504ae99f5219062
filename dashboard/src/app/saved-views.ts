/** Searches that the person has named, kept in this browser. A view is an address, so a link to it works for everybody. */
import { createStore } from './store'

export interface SavedView {
  readonly name: string
  /** The part of the address behind the `?`. */
  readonly search: string
}

const KEY = 'hookonce.views'
const MOST = 50
const views = createStore<readonly SavedView[]>(read())

export const useSavedViews = views.use

function read(): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? found.filter(isView).slice(0, MOST) : []
  } catch {
    return [] // storage may be forbidden
  }
}

function isView(value: unknown): value is SavedView {
  const { name, search } = (value ?? {}) as Partial<SavedView>
  return typeof name === 'string' && typeof search === 'string'
}

/** A view with the same name is replaced. */
export function saveView(view: SavedView): void {
  write([view, ...views.get().filter(({ name }) => name !== view.name)].slice(0, MOST))
}

export function removeView(name: string): void {
  write(views.get().filter((view) => view.name !== name))
}

function write(next: readonly SavedView[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // The views last as long as the page.
  }
  views.set(next)
}
