/** Spans over the path of a delivery and of each attempt, as a value that is handed in; null where nobody records them. */
export interface Tracing {
  /** Null when nothing records. */
  receive(source: string, headers: Readonly<Record<string, string>>): ReceiveSpan | null
  /** `inCall`: somebody waits for it, so it belongs to what that caller does; else it is a trace of its own. */
  attempt(events: readonly TracedEvent[], inCall: boolean): AttemptSpan | null
}

export interface TracedEvent {
  readonly source: string
  readonly eventId: string
  readonly eventType: string
  readonly attempt: number
  readonly headers: Readonly<Record<string, string>>
}

export interface ReceiveSpan {
  /** Kept with the event, so that its attempts can point back here. */
  readonly carried: Readonly<Record<string, string>>
  within<T>(work: () => Promise<T>): Promise<T>
  /** The commit, as a span inside this one. */
  record<T>(work: () => Promise<T>): Promise<T>
  identified(events: readonly { readonly id: string; readonly type: string }[]): void
  /** Null: it threw. */
  end(
    receipt: { readonly status: string; readonly reason: string | null; readonly httpStatus: number } | null,
  ): void
}

export interface AttemptSpan {
  within<T>(work: () => Promise<T>): Promise<T>
  /** How each event's attempt ended; null: that could not be written. */
  end(outcomes: readonly string[] | null): void
}
