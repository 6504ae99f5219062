/** Pause and resume, for all processes of the log. */
import { invalid } from '../errors.js'
import { hintOf } from '../nearest.js'
import type { ActionOptions } from '../processing/actions.js'
import { need, type Pause, type Store } from '../store.js'
import type { InboxBase } from './base.js'

export type PauseOptions = Pick<ActionOptions, 'actor' | 'note'>

interface WantedPause extends PauseOptions {
  readonly source: string
  readonly type?: string | null | undefined
}

/** False: it was so already. */
export async function changePause<Tx>(
  { store, registry, sources }: Pick<InboxBase<Tx>, 'store' | 'registry' | 'sources'>,
  verb: 'pause' | 'resume',
  { source, type = null, actor = 'inbox', note = '' }: WantedPause,
): Promise<boolean> {
  const opened = await store.open()
  const pauses = need(opened, 'pauses', `inbox.${verb}`)
  if (verb === 'pause') await insistOnKnown(opened, source, [...sources.keys(), ...registry.consumers.keys()])
  const hasChanged = await pauses[verb]({ source, type, actor, note })
  await registry.paused.refresh()
  return hasChanged
}

/** A pause with a misspelt name would hold up nothing. `names`: known without the log. */
export async function insistOnKnown(store: Store, name: string, names: readonly string[]): Promise<void> {
  if (names.includes(name)) return
  const known = [...new Set([...names, ...(await sourcesInLog(store))])]
  if (known.includes(name)) return
  throw invalid(
    'A pause',
    `needs a source, or a consumer or destination of one; there is no "${name}" (${hintOf(name, known)})`,
  )
}

/** The sources of its events, and its consumers. */
export async function sourcesInLog(store: Store): Promise<string[]> {
  const lists = await Promise.all([store.consumers?.list(), store.stats()])
  return [...new Set(lists.flatMap((list) => (list ?? []).map(({ source }) => source)))]
}

export async function listPauses<Tx>({ store }: Pick<InboxBase<Tx>, 'store'>): Promise<Pause[]> {
  return need(await store.open(), 'pauses', 'inbox.pauses').list()
}
