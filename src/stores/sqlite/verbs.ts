import { archived, countErasable, erase, exportDeliveries, receipts, restore } from './archive.js'
import { audit, audits } from './audit.js'
import { claim } from './claim.js'
import { conflict, openConflicts } from './conflicts.js'
import { deadLetters, effects, idsFrom, leases, types } from './examine.js'
import { addHistory, handled, processes, readHistory } from './history.js'
import { importEvents, knownEvents } from './imports.js'
import { inspect, look, probe } from './inspect.js'
import { effect, key, watermark } from './keys.js'
import { list, tail } from './list.js'
import { migrate } from './migrate.js'
import { operate } from './operate.js'
import { prune } from './prune.js'
import { attempts, get, payload } from './read.js'
import { record } from './record.js'
import { noteDuplicates } from './record-known.js'
import { extend, release, settle } from './settle.js'
import { stats } from './stats.js'

export const writeVerbs = {
  migrate,
  record,
  noteDuplicates,
  claim,
  extend,
  settle,
  release,
  effect,
  key,
  operate,
  audit,
  prune,
  archived,
  restore,
  erase,
  importEvents,
  probe,
  addHistory,
}

/** `countPrunable` is `prune` with `dryRun`, which only reads. */
export const readVerbs = {
  look,
  get,
  list,
  payload,
  attempts,
  stats,
  watermark,
  tail,
  inspect,
  audits,
  countPrunable: prune,
  countErasable,
  knownEvents,
  export: exportDeliveries,
  receipts,
  effects,
  conflict,
  openConflicts,
  deadLetters,
  leases,
  types,
  idsFrom,
  readHistory,
  processes,
  handled,
}

export const verbs = { ...readVerbs, ...writeVerbs }
