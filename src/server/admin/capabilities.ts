/** The capabilities that the admin API needs of the store, beside the log. */
import type { WholeInbox } from '../../inbox/internals.js'
import type { AuditTrail, NewAudit } from '../../store/audit.js'
import type { Inspect } from '../../store/inspect.js'
import { need } from '../../store.js'

export async function inspectOf(inbox: WholeInbox): Promise<Inspect> {
  return need(await inbox.store(), 'inspect', 'the admin API')
}

export async function auditOf(inbox: WholeInbox): Promise<AuditTrail> {
  return need(await inbox.store(), 'audit', 'the admin API')
}

/** Writes entries to the audit, which concern no source and no event unless they name one. */
export async function audit(
  inbox: WholeInbox,
  ...entries: (Pick<NewAudit, 'actor' | 'verb' | 'note'> & Partial<NewAudit>)[]
): Promise<void> {
  const trail = await auditOf(inbox)
  await trail.append(entries.map((entry) => ({ source: null, eventId: null, ...entry })))
}

/** The note of an entry, with what it is about. It is cut to the length that the audit stores. */
export function noteAbout(about: string, note: string): string {
  return (note === '' ? about : `${about}: ${note}`).slice(0, 900)
}
