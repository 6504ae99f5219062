/** Generated from the OpenAPI description of the admin API by `npm run build`. */
export interface paths {
    "/api/actions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The progress of an action */
        get: operations["getAction"];
        put?: never;
        post?: never;
        /** Cancel an action; events that it has changed stay changed */
        delete: operations["cancelAction"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The audit of all events, newest first */
        get: operations["listAudits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events, newest first; with `q`, the best matches first */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One event */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The attempts of an event, oldest first */
        get: operations["listAttempts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/audits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The audit of an event, newest first */
        get: operations["listEventAudits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/ignore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ignore a pending or failed event: it is not tried again */
        post: operations["ignoreEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The payload as received: a download, or JSON with base64 if the Accept header names JSON */
        get: operations["getPayload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run an event again from the beginning; a succeeded event needs `force` */
        post: operations["replayEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry a failed or ignored event */
        post: operations["retryEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry, replay or ignore all events that match a filter */
        post: operations["startAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The OpenAPI description of this API */
        get: operations["getOpenapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The current session: actor, role and expiry */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in: exchange a token for a session cookie */
        post: operations["signIn"];
        /** Sign out: remove the session cookie */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configured sources and their counters */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts per source */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** New events as server-sent events: `recorded`, `gap` when events were missed, `stats` when counts change */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Claim due events under a lease, oldest due first */
        post: operations["claimWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Extend leases, counted from now */
        post: operations["extendWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Release events that were not started; this does not use up an attempt */
        post: operations["releaseWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/work/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Write the outcomes of attempts */
        post: operations["settleWork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A problem document (RFC 9457). `code` is stable; see the table of errors. */
        Problem: {
            code: string;
            detail: string;
            status: number;
            title: string;
            type: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        done: number;
                        dryRun: boolean;
                        endedAt: string | null;
                        id: string;
                        matched: number;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
                        reason: string;
                        /** @description Number of events that were not changed, by error code */
                        refused: {
                            [key: string]: number;
                        };
                        /** Format: date-time */
                        startedAt: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled" | "failed";
                        /** @enum {string} */
                        verb: "retry" | "replay" | "ignore";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancelAction: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The action has stopped. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        done: number;
                        dryRun: boolean;
                        endedAt: string | null;
                        id: string;
                        matched: number;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
                        reason: string;
                        /** @description Number of events that were not changed, by error code */
                        refused: {
                            [key: string]: number;
                        };
                        /** Format: date-time */
                        startedAt: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled" | "failed";
                        /** @enum {string} */
                        verb: "retry" | "replay" | "ignore";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAudits: {
        parameters: {
            query?: {
                actor?: string;
                /** @description `next` of the previous page */
                cursor?: string;
                /** @description Received at or after this time: ISO 8601 or milliseconds since 1970 */
                from?: string;
                /** @description The exact event id */
                id?: string;
                /** @description Maximum number of entries in a page */
                limit?: number;
                source?: string;
                /** @description Received before this time */
                to?: string;
                verb?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        audits: {
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            eventId: string | null;
                            id: number;
                            reason: string;
                            source: string | null;
                            verb: string;
                        }[];
                        /** @description The `cursor` of the next page; null on the last page */
                        next: string | null;
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description `next` of the previous page */
                cursor?: string;
                /** @description Only failed events. true: dead letters; false: events with a next attempt */
                dead?: "true" | "false";
                /** @description Only events with the signed content of another event, or with a contested id */
                flagged?: "true" | "false";
                /** @description Received at or after this time: ISO 8601 or milliseconds since 1970 */
                from?: string;
                hasConflict?: "true" | "false";
                hasDuplicates?: "true" | "false";
                /** @description The exact event id */
                id?: string;
                /** @description Maximum number of entries in a page */
                limit?: number;
                /** @description An id, a reference, or the beginning of a type */
                q?: string;
                reason?: string;
                reference?: string;
                source?: string;
                state?: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                /** @description Received before this time */
                to?: string;
                /** @description The exact type, or a pattern with * */
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. A page with fewer entries than `limit` may still have a next page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description True when the search stopped at its limit before the page was full. More matches may follow at `next` */
                        cut: boolean;
                        events: {
                            attempts: number;
                            conflicts: number;
                            contentHash: string | null;
                            /** @description Set on a flagged event: the id it was delivered with, which an event with other signed content already has */
                            contests: string | null;
                            /** @description True for a dead letter: failed, without a next attempt */
                            dead: boolean;
                            deliveries: number;
                            id: string;
                            lastConflict: {
                                /** Format: date-time */
                                at: string;
                                hash: string;
                            } | null;
                            /** Format: date-time */
                            lastDeliveryAt: string;
                            nextAttemptAt: string | null;
                            payloadKept: boolean;
                            processedAt: string | null;
                            /** @description The reason why the event is ignored, or its last error. Viewers see only reasons that hookonce itself gives */
                            reason: string | null;
                            /** Format: date-time */
                            receivedAt: string;
                            reference: string | null;
                            run: number;
                            /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                            sameAs: string | null;
                            seq: number;
                            source: string;
                            /** @enum {string} */
                            state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                            type: string;
                        }[];
                        /** @description The `cursor` of the next page; null on the last page */
                        next: string | null;
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: number;
                        conflicts: number;
                        contentHash: string | null;
                        /** @description Set on a flagged event: the id it was delivered with, which an event with other signed content already has */
                        contests: string | null;
                        /** @description True for a dead letter: failed, without a next attempt */
                        dead: boolean;
                        deliveries: number;
                        id: string;
                        lastConflict: {
                            /** Format: date-time */
                            at: string;
                            hash: string;
                        } | null;
                        /** Format: date-time */
                        lastDeliveryAt: string;
                        nextAttemptAt: string | null;
                        payloadKept: boolean;
                        processedAt: string | null;
                        /** @description The reason why the event is ignored, or its last error. Viewers see only reasons that hookonce itself gives */
                        reason: string | null;
                        /** Format: date-time */
                        receivedAt: string;
                        reference: string | null;
                        run: number;
                        /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                        sameAs: string | null;
                        seq: number;
                        source: string;
                        /** @enum {string} */
                        state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        type: string;
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAttempts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its attempts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempts: {
                            attempt: number;
                            /** @description The error or the reason; null for viewers */
                            detail: string | null;
                            /** Format: date-time */
                            finishedAt: string;
                            /** @enum {string} */
                            outcome: "succeeded" | "ignored" | "failed" | "lost";
                            run: number;
                            /** Format: date-time */
                            startedAt: string;
                            worker: string;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listEventAudits: {
        parameters: {
            query?: {
                /** @description `next` of the previous page */
                cursor?: string;
                /** @description Maximum number of entries in a page */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        audits: {
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            eventId: string | null;
                            id: number;
                            reason: string;
                            source: string | null;
                            verb: string;
                        }[];
                        /** @description The `cursor` of the next page; null on the last page */
                        next: string | null;
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ignoreEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description Needed to replay succeeded events */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
                    /**
                     * @deprecated
                     * @description The old spelling of `note`
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        done: true;
                        dryRun: boolean;
                        /** @enum {string} */
                        from: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        /** @enum {string} */
                        to: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPayload: {
        parameters: {
            query?: {
                /** @description A note for the audit */
                note?: string;
                /** @description The old spelling of `note` */
                reason?: string;
            };
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payload. For a delivery with several events, the whole delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The bytes as received */
                        body: string;
                        headers: {
                            [key: string]: string;
                        };
                        id: string;
                        /** @description Position of the event in its delivery, from 0 */
                        part: number;
                        /** Format: date-time */
                        receivedAt: string;
                        source: string;
                    };
                    "application/octet-stream": string;
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    replayEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description Needed to replay succeeded events */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
                    /**
                     * @deprecated
                     * @description The old spelling of `note`
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        done: true;
                        dryRun: boolean;
                        /** @enum {string} */
                        from: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        /** @enum {string} */
                        to: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    retryEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description Needed to replay succeeded events */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
                    /**
                     * @deprecated
                     * @description The old spelling of `note`
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        done: true;
                        dryRun: boolean;
                        /** @enum {string} */
                        from: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        /** @enum {string} */
                        to: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startAction: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Count the events without changing anything
                     * @default false
                     */
                    dryRun?: boolean;
                    filter: {
                        dead?: boolean;
                        flagged?: boolean;
                        from?: string | number;
                        hasConflict?: boolean;
                        hasDuplicates?: boolean;
                        /** @description The exact event id */
                        id?: string;
                        reason?: string;
                        reference?: string;
                        source?: string;
                        /** @enum {string} */
                        state?: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        to?: string | number;
                        /** @description The exact type, or a pattern with * */
                        type?: string;
                    };
                    /**
                     * @description Needed to replay succeeded events
                     * @default false
                     */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
                    /** @description Maximum number of events a second */
                    rate?: number;
                    /**
                     * @deprecated
                     * @description The old spelling of `note`
                     */
                    reason?: string;
                    /** @enum {string} */
                    verb: "retry" | "replay" | "ignore";
                };
            };
        };
        responses: {
            /** @description The action has ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        done: number;
                        dryRun: boolean;
                        endedAt: string | null;
                        id: string;
                        matched: number;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
                        reason: string;
                        /** @description Number of events that were not changed, by error code */
                        refused: {
                            [key: string]: number;
                        };
                        /** Format: date-time */
                        startedAt: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled" | "failed";
                        /** @enum {string} */
                        verb: "retry" | "replay" | "ignore";
                    };
                };
            };
            /** @description The action is running. Ask the same process for its progress, by its id. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        done: number;
                        dryRun: boolean;
                        endedAt: string | null;
                        id: string;
                        matched: number;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
                        reason: string;
                        /** @description Number of events that were not changed, by error code */
                        refused: {
                            [key: string]: number;
                        };
                        /** Format: date-time */
                        startedAt: string;
                        /** @enum {string} */
                        state: "running" | "done" | "cancelled" | "failed";
                        /** @enum {string} */
                        verb: "retry" | "replay" | "ignore";
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOpenapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        openapi: "3.1.0";
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        /** @enum {string} */
                        by: "token" | "session" | "application" | "open";
                        expiresAt: string | null;
                        readOnly: boolean;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin" | "worker";
                    };
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
                "application/x-www-form-urlencoded": {
                    token: string;
                };
            };
        };
        responses: {
            /** @description Signed in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actor: string;
                        /** @enum {string} */
                        by: "token" | "session" | "application" | "open";
                        expiresAt: string | null;
                        readOnly: boolean;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin" | "worker";
                    };
                };
            };
            /** @description Signed in with a form of HTML. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sources: {
                            /** @enum {string} */
                            conflict: "ack" | "reject";
                            /** @enum {string} */
                            contentGuard: "review" | "accept" | "reject";
                            idIsSigned: boolean;
                            /** @enum {string} */
                            mode: "background" | "inline";
                            name: string;
                            order: "reference" | null;
                            /** @description The path of its deliveries on the receiving server */
                            path: string;
                            provider: {
                                docs: string;
                                key: string;
                                name: string;
                            };
                            retryWindowMs: number | null;
                            /** @description How deliveries are signed */
                            scheme: string;
                            /** @description Number of matches of each configured secret, in order, in this process */
                            secretHits: number[];
                            /** @description Counters of this process since it started */
                            since: {
                                conflicts: number;
                                duplicates: number;
                                handshakes: number;
                                received: number;
                                recorded: number;
                                /** @description By reason */
                                rejected: {
                                    [key: string]: number;
                                };
                                replayed: number;
                            };
                            /** @description False when deliveries are not verified: anyone who can reach the path can record events */
                            verified: boolean;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts per source, by name, and the spool. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        sources: {
                            dead: number;
                            /** @description True when the backlog is too large to count: pending, retrying and succeeded are estimates */
                            estimated: boolean;
                            ignored: number;
                            oldestDueAt: string | null;
                            pending: number;
                            processing: number;
                            recorded: number;
                            retrying: number;
                            source: string;
                            succeeded: number;
                        }[];
                        spool: {
                            bytes: number;
                            /** @description Number of deliveries that wait to be recorded */
                            depth: number;
                            draining: boolean;
                            maxBytes: number;
                            oldestAt: string | null;
                            /** @description Number of deliveries that the store refused */
                            refused: number;
                            storeAway: boolean;
                        } | null;
                    };
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description A position: the id of an earlier event of the stream. The header Last-Event-ID has priority */
                after?: number;
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    claimWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The event is due again after this time without extend, settle or release
                     * @default 30000
                     */
                    leaseMs?: number;
                    /** @default 1 */
                    limit?: number;
                    /** @description Default: all sources */
                    sources?: string[];
                    /**
                     * @description How long to wait for an event to become due
                     * @default 0
                     */
                    waitMs?: number;
                    /** @description Shown in the attempts and the audit */
                    worker: string;
                };
            };
        };
        responses: {
            /** @description The claimed events; empty when none is due. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        events: {
                            /** @description Counts from 1 over all runs */
                            attempt: number;
                            /** @description The bytes as received; null when they have been removed */
                            body: string | null;
                            headers: {
                                [key: string]: string;
                            };
                            id: string;
                            /** @description The same in every attempt: pass it to the services you call */
                            idempotencyKey: string;
                            /** @description The lease of the event, as the claim returned it */
                            lease: string;
                            leaseMs: number;
                            /** @description Position of the event in its delivery, from 0 */
                            part: number;
                            /** Format: date-time */
                            receivedAt: string;
                            reference: string | null;
                            /** @description Use it as retryInMs of a failure; null: this was the last attempt */
                            retryInMs: number | null;
                            run: number;
                            source: string;
                            /** @description Counts from 1 since the event was recorded, retried or replayed */
                            tries: number;
                            type: string;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    extendWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The event is due again after this time without extend, settle or release
                     * @default 30000
                     */
                    leaseMs?: number;
                    leases: string[];
                };
            };
        };
        responses: {
            /** @description The result for each lease, in the order of the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        results: {
                            code: "LEASE_LOST" | null;
                            done: boolean;
                            lease: string;
                            status: 200 | 409;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    releaseWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default 0 */
                    delayMs?: number;
                    leases: string[];
                };
            };
        };
        responses: {
            /** @description The result for each lease, in the order of the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        results: {
                            code: "LEASE_LOST" | null;
                            done: boolean;
                            lease: string;
                            status: 200 | 409;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    settleWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    settlements: {
                        /** @default 0 */
                        durationMs?: number;
                        /** @description The lease of the event, as the claim returned it */
                        lease: string;
                        outcome: {
                            /** @constant */
                            kind: "succeeded";
                        } | {
                            /** @constant */
                            kind: "ignored";
                            reason: string;
                        } | {
                            error: string;
                            /** @constant */
                            kind: "failed";
                            /** @description Null: a dead letter */
                            retryInMs: number | null;
                        };
                    }[];
                };
            };
        };
        responses: {
            /** @description The result for each lease, in the order of the request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        results: {
                            code: "LEASE_LOST" | null;
                            done: boolean;
                            lease: string;
                            status: 200 | 409;
                        }[];
                    };
                };
            };
            /** @description An error, as a problem document. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description An error, as a problem document. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
