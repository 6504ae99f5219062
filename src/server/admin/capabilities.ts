import type { WholeInbox } from '../../inbox/internals.js'
import { limits } from '../../model.js'
import { cut } from '../../processing/error-text.js'
import type { AuditTrail, NewAudit } from '../../store/audit.js'
import type { Inspect } from '../../store/inspect.js'
import { need } from '../../store.js'

export async function inspectOf(inbox: WholeInbox): Promise<Inspect> {
  return need(await inbox.store(), 'inspect', 'the admin API')
}

export async function auditOf(inbox: WholeInbox): Promise<AuditTrail> {
  return need(await inbox.store(), 'audit', 'the admin API')
}

/** An entry concerns no source and no event unless it names them. */
export async function audit(
  inbox: WholeInbox,
  ...entries: (Pick<NewAudit, 'actor' | 'verb' | 'note'> & Partial<NewAudit>)[]
): Promise<void> {
  const trail = await auditOf(inbox)
  await trail.append(entries.map((entry) => ({ source: null, eventId: null, ...entry })))
}

/** Cut to the length that the audit stores. */
export function noteAbout(about: string, note: string): string {
  return cut(note === '' ? about : `${about}: ${note}`, limits.reasonBytes)
}
