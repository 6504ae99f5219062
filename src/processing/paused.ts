/**
 * What is paused, as this process knows it: the pauses of the log, read when the store opens, when another process says that
 * they have changed, and every few moments in case that message was lost. While nothing is paused, an event costs one look at
 * an empty list. A process that is not started (serverless, tests) reads them again when its list is old.
 */
import { type EventTypeKey, followedSource } from '../model.js'
import type { Source } from '../provider.js'
import { coversType, type Pause } from '../store/pauses.js'
import type { News, Store } from '../store.js'

type SourceTypes = ReadonlyMap<string, Pick<Source, 'typeSeparator'>>
type PauseStore = Pick<Store, 'pauses' | 'subscribe'>

const OLD_MS = 1_000

export class Paused {
  list: readonly Pause[] = []
  readonly #sources: SourceTypes
  #store: PauseStore | null = null
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #unsubscribe: (() => Promise<void>) | undefined
  #onChange = (): void => {}

  constructor(sources: SourceTypes) {
    this.#sources = sources
  }

  /** The pause that holds the event back. */
  of(event: EventTypeKey): Pause | undefined {
    if (this.list.length === 0) return undefined
    const separator = this.#sources.get(followedSource(event.source))?.typeSeparator
    return this.list.find((pause) => coversType(pause, event, separator))
  }

  /** The pause of all events of the source. */
  ofSource(source: string): Pause | undefined {
    return this.list.find((pause) => pause.source === source && pause.type === null)
  }

  /** The pause of all events that a handler with this pattern takes. */
  ofHandler(source: string, pattern: string): Pause | undefined {
    return this.of({ source, type: pattern })
  }

  /** Throws when the log cannot be read: a process must not begin without knowing what is paused. */
  async open(store: PauseStore, onChange: () => void): Promise<void> {
    this.#store = store
    this.#onChange = onChange
    await this.#read()
  }

  async start(pollMs: number): Promise<void> {
    if (!this.#store?.pauses || this.#timer) return
    this.#timer = setInterval(() => void this.refresh(), Math.max(OLD_MS, pollMs)).unref()
    const onNews = (news: News) => {
      if (news === 'pauses') void this.refresh()
    }
    this.#unsubscribe = await this.#store.subscribe(onNews).catch(() => undefined)
    if (!this.#timer) await this.stop()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    const unsubscribe = this.#unsubscribe
    this.#unsubscribe = undefined
    await unsubscribe?.().catch(() => {})
  }

  /** Reads them now. Keeps the known ones when the log cannot be read: claims fail then too. */
  async refresh(): Promise<void> {
    // A read that is under way may have begun before the change.
    await this.#reading?.catch(() => {})
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    await this.#reading.catch(() => {})
  }

  /** Null: the list is new enough. */
  refreshOld(): Promise<void> | null {
    if (this.#timer || !this.#store?.pauses || performance.now() - this.#readAt < OLD_MS) return null
    return this.refresh()
  }

  async #read(): Promise<void> {
    const list = (await this.#store?.pauses?.list()) ?? []
    this.#readAt = performance.now()
    const isSame = JSON.stringify(list) === JSON.stringify(this.list)
    if (isSame) return
    this.list = list
    this.#onChange()
  }
}
