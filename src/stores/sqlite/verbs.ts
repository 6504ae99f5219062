/** What a thread can be asked to do: each verb is a function of the connection, the store's time and its arguments. */
import { archived } from './archived.js'
import { audit, audits } from './audit.js'
import { claim } from './claim.js'
import { noteDuplicates } from './duplicates.js'
import { effect } from './effect.js'
import { countErasable, erase } from './erase.js'
import { exportDeliveries } from './export.js'
import { inspect } from './inspect.js'
import { key } from './key.js'
import { extend, release } from './lease.js'
import { list } from './list.js'
import { migrate } from './migrate.js'
import { operate } from './operate.js'
import { look, probe } from './ping.js'
import { prune } from './prune.js'
import { attempts, get, payload } from './read.js'
import { record } from './record.js'
import { restore } from './restore.js'
import { settle } from './settle.js'
import { stats } from './stats.js'
import { tail } from './tail.js'
import { watermark } from './watermark.js'

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
  probe,
}

/** `countPrunable` is a prune that is a dry run: it only reads. */
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
  export: exportDeliveries,
}

export const verbs = { ...readVerbs, ...writeVerbs }
