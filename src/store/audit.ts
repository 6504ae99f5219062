/** The `audit` capability: who did what to the log. Needed by the admin API and by commands that show payloads. */
export interface AuditTrail {
  append(entries: readonly NewAudit[]): Promise<void>
  /** Newest first. */
  list(filter: AuditFilter, page?: { limit?: number; cursor?: string | null }): Promise<AuditPage>
}

/** An action of a person or a program. `source` and `eventId` are null when it concerns no single event. */
export interface NewAudit {
  readonly actor: string
  /** `retry`, `replay`, `ignore`, `payload`, `erase`, `prune`, `archive`, `restore`, `sign_in`, `claim`, ... */
  readonly verb: string
  readonly source: string | null
  readonly eventId: string | null
  readonly note: string
}

export interface Audit extends NewAudit {
  readonly id: number
  readonly at: number
}

export interface AuditFilter {
  readonly source?: string
  readonly eventId?: string
  readonly actor?: string
  readonly verb?: string
  readonly from?: number
  readonly to?: number
}

export interface AuditPage {
  readonly audits: readonly Audit[]
  readonly next: string | null
}
