/**
 * The store of an inbox, opened on first use. A failure to open is forgotten, so the next call tries again. Callers get
 * only the store that encrypts and decrypts, and whose actions make the cache forget, where these are configured.
 */
import { atMost } from '../clock.js'
import { encrypted } from '../encryption/encrypted.js'
import type { KeyRing } from '../encryption/key-ring.js'
import { HookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import { openStore } from '../open-store.js'
import type { LogRecorder } from '../recorder.js'
import type { Store } from '../store.js'
import type { InboxOptions } from './options.js'

export interface LazyStore<Tx = unknown> {
  /** For new work: STORE_CLOSED once `refuse` was called. */
  open(): Promise<Store<Tx>>
  /** For work that was accepted before `refuse` was called. */
  openForAccepted(): Promise<Store<Tx>>
  readonly opened: Store<Tx> | null
  /** Does not encrypt: the recording path has done that. */
  readonly recorder: LogRecorder
  /** Runs `step` at the end of opening. If it fails, opening has failed. */
  onOpen(step: (store: Store<Tx>) => Promise<void>): void
  refuse(): void
  readonly refuses: boolean
  /**
   * Waits up to `limitMs()` for an opening that is under way, runs `before`, and closes the store. With
   * `ownsStore: false` it is flushed instead. Does nothing when there is no store to close.
   */
  close(limitMs: () => number, before: () => Promise<unknown>): Promise<void>
}

export function lazyStore<Tx>(
  {
    store: configured,
    ownsStore: closes = true,
    migrate = true,
  }: Pick<InboxOptions<Tx>, 'store' | 'ownsStore' | 'migrate'>,
  ring: KeyRing | undefined,
  forgetting: (store: Store<Tx>) => Store<Tx>,
  log: Logger,
): LazyStore<Tx> {
  const fromUrl = typeof configured === 'string'
  const openingSteps: ((store: Store<Tx>) => Promise<void>)[] = []
  let opening: Promise<Store<Tx>> | undefined
  let opened: Store<Tx> | null = null
  /** Without encryption. Set while the schema is still migrated, which may take long. */
  let plain: Store<Tx> | undefined
  let refuses = false
  /** `close` did not wait any longer for the opening, so nobody else closes the store. */
  let tooLate = false

  async function openOnce(): Promise<Store<Tx>> {
    plain = fromUrl ? ((await openStore(configured)) as Store<Tx>) : configured
    plain.logTo?.(log)
    const store = forgetting(ring ? encrypted(plain, ring) : plain)
    try {
      if (migrate) await store.migrate()
    } catch (error) {
      if (fromUrl) await store.close() // the next try opens another one
      throw error
    }
    if (tooLate) {
      if (closes) await store.close()
      throw new HookonceError('STORE_CLOSED')
    }
    for (const step of openingSteps) await step(store)
    opened = store
    return store
  }

  function open(): Promise<Store<Tx>> {
    if (refuses) return Promise.reject(new HookonceError('STORE_CLOSED'))
    opening ??= openOnce().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }

  const openForAccepted = () => opening ?? open()

  return {
    open,
    openForAccepted,
    get opened() {
      return opened
    },
    recorder: {
      async record(deliveries, claim) {
        if (!opened) await openForAccepted()
        return plain!.record(deliveries, claim)
      },
    },
    onOpen: (step) => void openingSteps.push(step),
    refuse() {
      refuses = true
    },
    get refuses() {
      return refuses
    },
    async close(limitMs, before) {
      if (!opened) await atMost(limitMs(), opening)
      tooLate = !opened
      const store = opened ?? (closes ? (plain ?? configured) : null)
      if (store === null || typeof store === 'string') return
      await before()
      await (closes ? store.close() : store.duplicates?.flush())
    },
  }
}
