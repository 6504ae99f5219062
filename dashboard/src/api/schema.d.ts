/** Generated from the OpenAPI description of the admin API by `npm run build`. */
export interface paths {
    "/api/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The actions of this process that run or ended within the last hour, the latest first */
        get: operations["listActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
    "/api/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What needs a person, the most severe first */
        get: operations["getAttention"];
        put?: never;
        post?: never;
        delete?: never;
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
        /** The audit, newest first; of one event with `source` and `id` */
        get: operations["listAudits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Dead letters grouped by source and error, the latest first */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The destinations of the process that answers */
        get: operations["listDestinations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/destinations/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a destination in the process that answers */
        post: operations["pauseDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/destinations/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a destination in the process that answers */
        post: operations["resumeDestination"];
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
    "/api/events/{source}/{id}/conflict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The latest delivery with the id of this event and other content, for comparison */
        get: operations["getConflict"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/copies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Record a new event with another body, marked by its id; the handlers run for it as for any event */
        post: operations["copyEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/{source}/{id}/effects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The side effects of an event (`ctx.once`), oldest first */
        get: operations["listEffects"];
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
        /** Retry, replay or ignore all events that match a filter, or the given events */
        post: operations["startAction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The events that match, as a download without payloads */
        get: operations["exportEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sources and types of the log */
        get: operations["getFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events by whatever was pasted: an id, its beginning, a reference, a URL or a text that contains one */
        get: operations["findEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/handlers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The handlers of the process that answers, and what they did since it started */
        get: operations["listHandlers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/handlers/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a handler or all handlers of a source, in the process that answers */
        post: operations["pauseHandler"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/handlers/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a handler or all handlers of a source, in the process that answers */
        post: operations["resumeHandler"];
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
    "/api/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and latencies of a window of time, as series and sums, over all processes of the log */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The review list: events that were recorded and need a decision */
        get: operations["getReview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events whose stored payload has a value at a JSON path; each call reads a bounded number of payloads */
        get: operations["searchPayloads"];
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
    "/api/sources/{source}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One source, with what a person needs to set it up */
        get: operations["getSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sources/{source}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a signed sample of the provider through intake, like a delivery */
        post: operations["sendTestEvent"];
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
    "/api/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The version, the store and its durability, retention, archive, spool and cache */
        get: operations["getSystem"];
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
    "/api/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The leases of each worker, and the processes that share the log */
        get: operations["listWorkers"];
        put?: never;
        post?: never;
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
    listActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The actions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        actions: {
                            actor: string;
                            done: number;
                            dryRun: boolean;
                            endedAt: string | null;
                            id: string;
                            matched: number;
                            note: string;
                            /** @description The code of the error that ended the action */
                            problem: string | null;
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
                        note: string;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
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
                        note: string;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
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
    getAttention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            count: number | null;
                            /** @description The query of GET /api/events that lists its events */
                            filter: {
                                [key: string]: string;
                            } | null;
                            id: string;
                            kind: string;
                            lastAt: string | null;
                            /** @enum {string} */
                            screen: "events" | "dead" | "review" | "sources" | "handlers" | "destinations" | "workers" | "system";
                            /** @enum {string} */
                            severity: "critical" | "warning" | "info";
                            source: string | null;
                            text: string;
                            title: string;
                            /** @description What to do */
                            todo: string;
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
    listAudits: {
        parameters: {
            query?: {
                actor?: string;
                cursor?: string;
                from?: string;
                id?: string;
                limit?: number;
                source?: string;
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
                            note: string;
                            source: string | null;
                            verb: string;
                        }[];
                        /** @description The `cursor` of the next page; null on the last page */
                        next: string | null;
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
    listDeadLetters: {
        parameters: {
            query?: {
                limit?: number;
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The groups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description True when there are more dead letters than were read */
                        cut: boolean;
                        groups: {
                            count: number;
                            /** @description The first line of the newest error; null for viewers */
                            error: string | null;
                            /** @description The query of GET /api/events that lists them */
                            filter: {
                                [key: string]: string;
                            };
                            /** Format: date-time */
                            firstAt: string;
                            /** Format: date-time */
                            lastAt: string;
                            /** @description The newest of them */
                            sample: {
                                id: string;
                                source: string;
                            };
                            source: string;
                            types: string[];
                        }[];
                        scanned: number;
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
    listDestinations: {
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
                        destinations: {
                            active: number;
                            failed: number;
                            failuresInARow: number;
                            lastFailedAt: string | null;
                            lastHttpStatus: number | null;
                            /** @description Null for viewers */
                            lastProblem: string | null;
                            lastSentAt: string | null;
                            name: string;
                            nextProbeAt: string | null;
                            origin: string;
                            paused: boolean;
                            pausedAt: string | null;
                            pauseReason: string | null;
                            postponed: number;
                            sent: number;
                            sources: string[];
                            types: string[];
                            /** @description Unfinished events of its sources */
                            waiting: number;
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
    pauseDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A note for the audit */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Its state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        active: number;
                        failed: number;
                        failuresInARow: number;
                        lastFailedAt: string | null;
                        lastHttpStatus: number | null;
                        /** @description Null for viewers */
                        lastProblem: string | null;
                        lastSentAt: string | null;
                        name: string;
                        nextProbeAt: string | null;
                        origin: string;
                        paused: boolean;
                        pausedAt: string | null;
                        pauseReason: string | null;
                        postponed: number;
                        sent: number;
                        sources: string[];
                        types: string[];
                        /** @description Unfinished events of its sources */
                        waiting: number;
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
    resumeDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description A note for the audit */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description Its state. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        active: number;
                        failed: number;
                        failuresInARow: number;
                        lastFailedAt: string | null;
                        lastHttpStatus: number | null;
                        /** @description Null for viewers */
                        lastProblem: string | null;
                        lastSentAt: string | null;
                        name: string;
                        nextProbeAt: string | null;
                        origin: string;
                        paused: boolean;
                        pausedAt: string | null;
                        pauseReason: string | null;
                        postponed: number;
                        sent: number;
                        sources: string[];
                        types: string[];
                        /** @description Unfinished events of its sources */
                        waiting: number;
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
    listEvents: {
        parameters: {
            query?: {
                cursor?: string;
                dead?: "true" | "false";
                flagged?: "true" | "false";
                from?: string;
                hasConflict?: "true" | "false";
                hasDuplicates?: "true" | "false";
                id?: string;
                limit?: number;
                minAttempts?: number;
                q?: string;
                reason?: string;
                reasonLike?: string;
                reference?: string;
                source?: string;
                state?: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                to?: string;
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
                            /** @description True for a dead letter: failed, without a next attempt */
                            dead: boolean;
                            deliveries: number;
                            id: string;
                            lastConflict: {
                                /** Format: date-time */
                                at: string;
                                /** @description Null while the conflict is open: nobody has decided about it */
                                decidedAt: string | null;
                                hash: string;
                            } | null;
                            /** Format: date-time */
                            lastDeliveryAt: string;
                            nextAttemptAt: string | null;
                            /**
                             * @description `removed`: by retention, an archive may contain it. `erased`: permanently
                             * @enum {string}
                             */
                            payload: "kept" | "removed" | "erased";
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
                        /** @description True for a dead letter: failed, without a next attempt */
                        dead: boolean;
                        deliveries: number;
                        id: string;
                        lastConflict: {
                            /** Format: date-time */
                            at: string;
                            /** @description Null while the conflict is open: nobody has decided about it */
                            decidedAt: string | null;
                            hash: string;
                        } | null;
                        /** Format: date-time */
                        lastDeliveryAt: string;
                        nextAttemptAt: string | null;
                        /**
                         * @description `removed`: by retention, an archive may contain it. `erased`: permanently
                         * @enum {string}
                         */
                        payload: "kept" | "removed" | "erased";
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
    getConflict: {
        parameters: {
            query?: {
                note?: string;
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
            /** @description The delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date-time */
                        at: string;
                        /** @description The bytes as received */
                        body: string;
                        hash: string;
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
    copyEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                source: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: base64
                     * @description The bytes of the new event
                     */
                    body: string;
                    /** @description Report the id without recording anything */
                    dryRun?: boolean;
                    /** @description A note for the audit */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description The new event. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        dryRun: boolean;
                        duplicate: boolean;
                        id: string;
                        source: string;
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
    listEffects: {
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
            /** @description Its effects, without their results. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        effects: {
                            finishedAt: string | null;
                            /** @description The key of `ctx.once`; null for viewers */
                            name: string | null;
                            /** Format: date-time */
                            startedAt: string;
                            /**
                             * @description `started`: its end was not reported
                             * @enum {string}
                             */
                            state: "started" | "finished";
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
                    /** @description Keep the first content: close the conflict, in any state of the event, and change nothing else */
                    conflict?: boolean;
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description Needed to replay succeeded events */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
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
                note?: string;
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
                    /** @description Run the other content of the latest conflict */
                    conflict?: boolean;
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description Needed to replay succeeded events */
                    force?: boolean;
                    /** @description A note for the audit */
                    note?: string;
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
                     * @description With `ignore`: keep the first content of each event, and change nothing else
                     * @default false
                     */
                    conflict?: boolean;
                    /**
                     * @description Count the events without changing anything
                     * @default false
                     */
                    dryRun?: boolean;
                    /** @description These events, in place of `filter` */
                    events?: {
                        id: string;
                        source: string;
                    }[];
                    filter?: {
                        dead?: boolean;
                        flagged?: boolean;
                        from?: string | number;
                        hasConflict?: boolean;
                        hasDuplicates?: boolean;
                        /** @description The exact event id */
                        id?: string;
                        minAttempts?: number;
                        reason?: string;
                        /** @description A pattern for the reason or the last error, in which * stands for any text */
                        reasonLike?: string;
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
                        note: string;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
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
                        note: string;
                        /** @description The code of the error that ended the action */
                        problem: string | null;
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
    exportEvents: {
        parameters: {
            query?: {
                dead?: "true" | "false";
                flagged?: "true" | "false";
                format?: "ndjson" | "csv";
                from?: string;
                hasConflict?: "true" | "false";
                hasDuplicates?: "true" | "false";
                id?: string;
                limit?: number;
                minAttempts?: number;
                reason?: string;
                reasonLike?: string;
                reference?: string;
                source?: string;
                state?: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                to?: string;
                type?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
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
    getFacets: {
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
                            /** @description True when types are left out */
                            more: boolean;
                            source: string;
                            types: string[];
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
    findEvents: {
        parameters: {
            query: {
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The matches, the best first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        matches: {
                            /** @enum {string} */
                            by: "id" | "id_prefix" | "reference";
                            event: {
                                attempts: number;
                                conflicts: number;
                                contentHash: string | null;
                                /** @description True for a dead letter: failed, without a next attempt */
                                dead: boolean;
                                deliveries: number;
                                id: string;
                                lastConflict: {
                                    /** Format: date-time */
                                    at: string;
                                    /** @description Null while the conflict is open: nobody has decided about it */
                                    decidedAt: string | null;
                                    hash: string;
                                } | null;
                                /** Format: date-time */
                                lastDeliveryAt: string;
                                nextAttemptAt: string | null;
                                /**
                                 * @description `removed`: by retention, an archive may contain it. `erased`: permanently
                                 * @enum {string}
                                 */
                                payload: "kept" | "removed" | "erased";
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
    listHandlers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By source and pattern. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        handlers: {
                            /** @description Attempts that run now in this process */
                            active: number;
                            concurrency: number | null;
                            /** @description Null without a value */
                            duration: {
                                count: number;
                                p50Ms: number | null;
                                p95Ms: number | null;
                                p99Ms: number | null;
                            };
                            /** @enum {string} */
                            kind: "one" | "batch" | "destination";
                            /** @description Null: without a limit */
                            maxAttempts: number | null;
                            order: "reference" | null;
                            pattern: string;
                            paused: boolean;
                            since: {
                                attempts: number;
                                dead: number;
                                failed: number;
                                ignored: number;
                                lost: number;
                                postponed: number;
                                retries: number;
                                succeeded: number;
                            };
                            source: string;
                            sourcePaused: boolean;
                            timeoutMs: number | null;
                        }[];
                        /** @description The process that answers: handlers and pauses are those of this process */
                        process: string;
                        /** Format: date-time */
                        startedAt: string;
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
    pauseHandler: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A note for the audit */
                    note?: string;
                    /** @description The pattern of one handler; left out: all handlers of the source */
                    pattern?: string;
                    source: string;
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
                        pattern: string | null;
                        paused: boolean;
                        source: string;
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
    resumeHandler: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A note for the audit */
                    note?: string;
                    /** @description The pattern of one handler; left out: all handlers of the source */
                    pattern?: string;
                    source: string;
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
                        pattern: string | null;
                        paused: boolean;
                        source: string;
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
    getOverview: {
        parameters: {
            query?: {
                window?: "1h" | "24h" | "7d" | "30d";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The window. Its last bucket is not complete. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The start of each bucket; every series has this length */
                        at: string[];
                        latency: {
                            /** @description Null without a value */
                            ack: {
                                count: number;
                                p50Ms: number | null;
                                p95Ms: number | null;
                                p99Ms: number | null;
                            };
                            /** @description Null without a value */
                            handle: {
                                count: number;
                                p50Ms: number | null;
                                p95Ms: number | null;
                                p99Ms: number | null;
                            };
                        };
                        now: {
                            dead: number;
                            estimated: boolean;
                            ignored: number;
                            oldestDueAgeMs: number | null;
                            oldestDueAt: string | null;
                            pending: number;
                            processing: number;
                            retrying: number;
                        };
                        series: {
                            conflicts: number[];
                            dead: number[];
                            duplicates: number[];
                            failed: number[];
                            flagged: number[];
                            ignored: number[];
                            received: number[];
                            recorded: number[];
                            rejected: number[];
                            succeeded: number[];
                        };
                        sources: {
                            latency: {
                                /** @description Null without a value */
                                ack: {
                                    count: number;
                                    p50Ms: number | null;
                                    p95Ms: number | null;
                                    p99Ms: number | null;
                                };
                                /** @description Null without a value */
                                handle: {
                                    count: number;
                                    p50Ms: number | null;
                                    p95Ms: number | null;
                                    p99Ms: number | null;
                                };
                            };
                            received: number[];
                            source: string;
                            totals: {
                                conflicts: number;
                                dead: number;
                                duplicates: number;
                                failed: number;
                                flagged: number;
                                ignored: number;
                                received: number;
                                recorded: number;
                                rejected: number;
                                succeeded: number;
                            };
                        }[];
                        stepMs: number;
                        /** @description `failed` counts attempts; `dead` counts events that became dead letters */
                        totals: {
                            conflicts: number;
                            dead: number;
                            duplicates: number;
                            failed: number;
                            flagged: number;
                            ignored: number;
                            received: number;
                            recorded: number;
                            rejected: number;
                            succeeded: number;
                        };
                        /** @enum {string} */
                        window: "1h" | "24h" | "7d" | "30d";
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
    getReview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A list for each kind. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        lists: {
                            count: number;
                            filter: {
                                [key: string]: string;
                            };
                            /** @enum {string} */
                            kind: "unhandled" | "replayed_content" | "stale" | "flagged" | "conflict";
                            lastAt: string | null;
                            /** @description True when there are more than `count` */
                            more: boolean;
                            title: string;
                            todo: string;
                            /** @description Of the events that were counted */
                            types: {
                                count: number;
                                source: string;
                                type: string;
                            }[];
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
    searchPayloads: {
        parameters: {
            query: {
                cursor?: string;
                dead?: "true" | "false";
                flagged?: "true" | "false";
                from?: string;
                hasConflict?: "true" | "false";
                hasDuplicates?: "true" | "false";
                id?: string;
                limit?: number;
                minAttempts?: number;
                note?: string;
                op?: "eq" | "ne" | "contains" | "exists" | "gt" | "lt";
                path: string;
                reason?: string;
                reasonLike?: string;
                reference?: string;
                source?: string;
                state?: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                to?: string;
                type?: string;
                value?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first. `next` continues the search. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description What this call has read */
                        cost: {
                            bytes: number;
                            events: number;
                            ms: number;
                        };
                        /** @description True when the search stopped at its limit before the page was full. More matches may follow at `next` */
                        cut: boolean;
                        events: {
                            attempts: number;
                            conflicts: number;
                            contentHash: string | null;
                            /** @description True for a dead letter: failed, without a next attempt */
                            dead: boolean;
                            deliveries: number;
                            id: string;
                            lastConflict: {
                                /** Format: date-time */
                                at: string;
                                /** @description Null while the conflict is open: nobody has decided about it */
                                decidedAt: string | null;
                                hash: string;
                            } | null;
                            /** Format: date-time */
                            lastDeliveryAt: string;
                            nextAttemptAt: string | null;
                            /**
                             * @description `removed`: by retention, an archive may contain it. `erased`: permanently
                             * @enum {string}
                             */
                            payload: "kept" | "removed" | "erased";
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
                        by: "token" | "session" | "application";
                        expiresAt: string | null;
                        /** @description What this role may do, also on a read-only server */
                        permissions: ("read" | "detail" | "act" | "payload" | "work")[];
                        readOnly: boolean;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin" | "worker";
                        /**
                         * Format: date-time
                         * @description When the process that answers was started
                         */
                        startedAt: string;
                        /** @description The version of hookonce that answers */
                        version: string | null;
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
                        by: "token" | "session" | "application";
                        expiresAt: string | null;
                        /** @description What this role may do, also on a read-only server */
                        permissions: ("read" | "detail" | "act" | "payload" | "work")[];
                        readOnly: boolean;
                        /** @enum {string} */
                        role: "viewer" | "operator" | "admin" | "worker";
                        /**
                         * Format: date-time
                         * @description When the process that answers was started
                         */
                        startedAt: string;
                        /** @description The version of hookonce that answers */
                        version: string | null;
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
    getSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The source. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description In 24 hours */
                        ack: {
                            count: number;
                            p50Ms: number | null;
                            p95Ms: number | null;
                            p99Ms: number | null;
                        };
                        answer: {
                            httpStatus: number;
                            /** @description How long the sender waits for the answer */
                            timeLimitMs: number | null;
                        };
                        commands: {
                            /** @description Null when a delivery needs a signature */
                            curl: string | null;
                            send: string;
                        };
                        /** @enum {string} */
                        conflict: "ack" | "reject";
                        /** @enum {string} */
                        contentGuard: "review" | "accept" | "reject";
                        /** @description The types that have a handler in this process */
                        handled: string[];
                        idIsSigned: boolean;
                        /** @enum {string} */
                        mode: "background" | "inline";
                        name: string;
                        order: "reference" | null;
                        /** @description Accepted of all deliveries in 24 hours; null without any */
                        passRate: number | null;
                        /** @description The path of its deliveries on the receiving server */
                        path: string;
                        provider: {
                            docs: string;
                            key: string;
                            name: string;
                        };
                        /** @description In 24 hours, over all processes, the most frequent first */
                        rejections: {
                            count: number;
                            reason: string;
                            todo: string;
                        }[];
                        retention: {
                            eventsMs: number;
                            payloadsMs: number;
                        } | null;
                        retryWindowMs: number | null;
                        /** @description The types that a test event can have */
                        samples: string[];
                        /** @description How deliveries are signed */
                        scheme: string;
                        /** @description In the configured order; the first signs */
                        secrets: {
                            /** @description Deliveries that it matched in this process */
                            hits: number;
                            index: number;
                            /** @description Its position in the configuration; the secret itself is never shown */
                            label: string;
                        }[];
                        /** @description Where the signature is read from */
                        signatureIn: string[];
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
                        /** @description The largest accepted age of a signed time */
                        toleranceMs: number | null;
                        /** @description The URL to enter at the provider, by the host of this request */
                        url: string;
                        /** @description False when deliveries are not verified: anyone who can reach the path can record events */
                        verified: boolean;
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
    sendTestEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    type?: string;
                };
            };
        };
        responses: {
            /** @description The answer of intake. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        duplicate: boolean;
                        httpStatus: number;
                        id: string | null;
                        status: string;
                        type: string | null;
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
                            /** @description Number of deliveries that could not be recorded and are retried */
                            setAside: number;
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
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The system. Findings of the store are at most a minute old. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        archive: boolean;
                        encryption: boolean;
                        node: string;
                        retention: {
                            failures: number;
                            on: boolean;
                            policy: {
                                attemptsMs: number | null;
                                auditsMs: number | null;
                                eventsMs: number | null;
                                payloadsMs: number | null;
                                source: string;
                            }[];
                            removed: {
                                attempts: number;
                                audits: number;
                                events: number;
                                payloads: number;
                            };
                            runs: number;
                        };
                        /** @description The cache of known events: lru or redis */
                        seen: {
                            errors: number;
                            hits: number;
                            misses: number;
                            name: string;
                        } | null;
                        spool: {
                            bytes: number;
                            /** @description Number of deliveries that wait to be recorded */
                            depth: number;
                            draining: boolean;
                            maxBytes: number;
                            oldestAt: string | null;
                            /** @description Number of deliveries that could not be recorded and are retried */
                            setAside: number;
                            storeAway: boolean;
                        } | null;
                        /** Format: date-time */
                        startedAt: string;
                        store: {
                            clockSkewMs: number | null;
                            /** @description The settings that durability depends on, and the checks of the log */
                            findings: {
                                fix: string | null;
                                name: string;
                                ok: boolean;
                                value: string;
                            }[];
                            name: string;
                            partitionsAhead: number | null;
                            schema: {
                                found: number;
                                known: number;
                            } | null;
                            up: boolean;
                        };
                        /** @description By code, since this process started */
                        storeErrors: {
                            [key: string]: number;
                        };
                        version: string | null;
                        /** @description The worker of the process that answers */
                        worker: string | null;
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
                    /**
                     * @description The most events; fewer when their bodies have more than 8 MiB together
                     * @default 1
                     */
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
                            /** @description The bytes of the event as received, its own part of a delivery with several events; null when they have been removed */
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
    listWorkers: {
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
                        processes: {
                            /** @description True when it has written a note within the last 30 seconds */
                            alive: boolean;
                            host: string;
                            id: string;
                            node: string;
                            pid: number;
                            /** Format: date-time */
                            seenAt: string;
                            /** Format: date-time */
                            startedAt: string;
                            version: string;
                            worker: string | null;
                        }[];
                        workers: {
                            /** @description Leases whose time is over: the worker did not report */
                            expired: number;
                            expiresAt: string | null;
                            leases: number;
                            oldestClaimedAt: string | null;
                            process: {
                                /** @description True when it has written a note within the last 30 seconds */
                                alive: boolean;
                                host: string;
                                id: string;
                                node: string;
                                pid: number;
                                /** Format: date-time */
                                seenAt: string;
                                /** Format: date-time */
                                startedAt: string;
                                version: string;
                                worker: string | null;
                            } | null;
                            worker: string;
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
}
