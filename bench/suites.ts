/** All suites, in the order of a run. */
import type { Suite } from './suite.js'
import { backlog } from './suites/backlog.js'
import { endToEnd, inline } from './suites/end-to-end.js'
import { forward } from './suites/forward.js'
import { growth } from './suites/growth.js'
import { install } from './suites/install.js'
import { intake } from './suites/intake.js'
import { memory } from './suites/memory.js'
import { nodes } from './suites/nodes.js'
import { processing } from './suites/processing.js'
import { recovery } from './suites/recovery.js'
import { retention } from './suites/retention.js'
import { snapshot } from './suites/snapshot.js'
import { startup } from './suites/startup.js'
import { store } from './suites/store.js'
import { verification } from './suites/verification.js'

export const suites: readonly Suite[] = [
  intake,
  processing,
  endToEnd,
  inline,
  backlog,
  growth,
  snapshot,
  recovery,
  memory,
  store,
  verification,
  startup,
  install,
  retention,
  forward,
  nodes,
]
