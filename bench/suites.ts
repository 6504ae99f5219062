/** All suites, in the order of a run. */
import type { Suite } from './suite.js'
import { forward } from './suites/forward.js'
import { intake } from './suites/intake.js'
import { processing } from './suites/processing.js'
import { retention } from './suites/retention.js'
import { snapshot } from './suites/snapshot.js'
import { store } from './suites/store.js'

export const suites: readonly Suite[] = [intake, processing, store, snapshot, retention, forward]
