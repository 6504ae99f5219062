/** Intake, processing and upkeep share this base of an inbox: its store, sources, handlers and counters. */
import { type Clock, systemClock } from '../clock.js'
import { Counters } from '../counters.js'
import { type KeyRing, keyRing } from '../encryption/key-ring.js'
import { type IntakeObserver, intakeObserver } from '../intake/observer.js'
import { type IntakeLimits, intakeLimits } from '../intake/receive.js'
import { type Logger, type RepeatedLines, repeatedLines } from '../log.js'
import { stackOf } from '../processing/error-text.js'
import { createRedactor, type Redactor } from '../processing/redact.js'
import { Registry } from '../processing/registry.js'
import type { Source } from '../provider.js'
import type { SeenCache } from '../seen/cache.js'
import { forgetting } from '../seen/forgetting.js'
import { openTelemetry, type Tracing } from '../tracing.js'
import { type LazyStore, lazyStore } from './lazy-store.js'
import { checkCapabilities, checkSources, type InboxOptions, inboxLog } from './options.js'
import { seenCache } from './recording-path.js'

export interface InboxBase<Tx> {
  readonly options: InboxOptions<Tx>
  readonly log: Logger
  readonly repeats: RepeatedLines
  readonly clock: Clock
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  readonly counters: Counters
  readonly observer: IntakeObserver
  readonly tracing: Tracing | null
  readonly redact: Redactor
  readonly registry: Registry<Tx>
  readonly ring: KeyRing | undefined
  readonly store: LazyStore<Tx>
  readonly cache: SeenCache | null
}

export function inboxBase<Tx>(options: InboxOptions<Tx>): InboxBase<Tx> {
  const log = inboxLog(options.log)
  const repeats = repeatedLines(log)
  const clock = options.clock ?? systemClock
  const sources = checkSources(options.sources, log)
  checkCapabilities(options)
  const counters = new Counters()
  const ring = options.encryption && keyRing(options.encryption)
  const { retry } = options.processing || {}
  const store = lazyStore<Tx>(options, ring, (opened) => (cache ? forgetting(opened, cache) : opened), log)
  const registry = new Registry<Tx>(sources, retry ?? {})
  for (const [name, types] of Object.entries(options.workers ?? {})) registry.leaveToWorkers(name, types)
  const cache: SeenCache | null = options.seen ? seenCache({ seen: options.seen, clock, log, store }) : null
  return {
    options,
    log,
    repeats,
    clock,
    sources,
    limits: intakeLimits(options.limits),
    counters,
    observer: intakeObserver({ sources, counters, log, repeats, stackOf }),
    tracing: options.tracing === false ? null : openTelemetry(),
    redact: createRedactor(options.redact ?? {}, sources),
    registry,
    ring,
    store,
    cache,
  }
}
