import { archived, countErasable, erase, exportDeliveries, receipts, restore } from './archive.js'
import { audit, audits } from './audit.js'
import { claim } from './claim.js'
import { conflict, openConflicts } from './conflicts.js'
import { copyToConsumer, listConsumers, openConsumers } from './consumers.js'
import { deadLetters, effects, idsFrom, leases, types } from './examine.js'
import { listLimits, takeGrants } from './grants.js'
import { addHistory, handled, processes, readHistory } from './history.js'
import { importEvents, knownEvents } from './imports.js'
import { inspect, look, probe } from './inspect.js'
import { effect, key, watermark } from './keys.js'
import { list, tail } from './list.js'
import { migrate } from './migrate.js'
import { operate } from './operate.js'
import { listPauses, pause, resume } from './pauses.js'
import { prune } from './prune.js'
import { attempts, get, payload } from './read.js'
import { noteReconcile, reconciles } from './reconciles.js'
import { record } from './record.js'
import { noteDuplicates } from './record-known.js'
import { reply } from './replies.js'
import { extend, release, settle } from './settle.js'
import { oldestUnfinished, standings } from './standings.js'
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
  openConsumers,
  copyToConsumer,
  noteReconcile,
  takeGrants,
  pause,
  resume,
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
  listConsumers,
  reconciles,
  reply,
  listLimits,
  listPauses,
  standings,
  oldestUnfinished,
}

export const verbs = { ...readVerbs, ...writeVerbs }
