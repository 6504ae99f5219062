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
        /** Pause a destination, in all processes of the log */
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
        /** Resume a destination, in all processes of the log */
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
        /** The latest delivery with the id of this event and other content, an open one first; its `hash` names it in an action */
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
        /** Ignore a pending or failed event: it is not retried */
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
        /** The payload as received: a download; or JSON with base64, and with the reply of an inline handler, if the Accept header names JSON */
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
    "/api/events/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many events match, counted up to 1,000 or for half a second */
        get: operations["countEvents"];
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
    "/api/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a source, a consumer, or its events of a type, in all processes of the log */
        post: operations["pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/pauses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is paused in the log, by whom and since when */
        get: operations["listPauses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a source, a consumer, or its events of a type, in all processes of the log */
        post: operations["resume"];
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
    "/api/sources/{source}/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare the log with the sender’s own list of events, and record what is missing */
        post: operations["reconcileSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sources/{source}/reconciles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The reports of comparisons with the sender, the latest first */
        get: operations["listReconciles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sources/{source}/sample": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A signed sample of the provider as a curl command, to be sent from another machine */
        post: operations["signSample"];
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
    "/api/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The attempt that last wrote a row of your tables (PostgreSQL) */
        get: operations["getRowWriter"];
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
                                /** @description The event id */
                                id: string;
                                /** @description The name of the source */
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
                            /** @description Who paused it, in all processes */
                            pausedBy: string | null;
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
                        /** @description Who paused it, in all processes */
                        pausedBy: string | null;
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
                        /** @description Who paused it, in all processes */
                        pausedBy: string | null;
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
                label?: string;
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
                                /** @description Names this content in an action, as `conflict` */
                                hash: string;
                            } | null;
                            /** Format: date-time */
                            lastDeliveryAt: string;
                            nextAttemptAt: string | null;
                            /**
                             * @description `delivery`: with a signature. `backfill`: reconcile read it from the API of the sender. `import`: from another program
                             * @enum {string}
                             */
                            origin: "delivery" | "backfill" | "import";
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
                            /** @description What the event is about, by label. The first is `reference`, if that has a label */
                            references: {
                                label: string;
                                value: string;
                            }[];
                            run: number;
                            /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                            sameAs: string | null;
                            seq: number;
                            source: string;
                            /** @enum {string} */
                            state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                            type: string;
                            /** @description Null when it waits for nothing */
                            waiting: ({
                                /** @constant */
                                kind: "review";
                                sameAs: string | null;
                            } | {
                                /** @constant */
                                kind: "running";
                                /** Format: date-time */
                                sinceAt: string;
                                worker: string;
                            } | {
                                actor: string;
                                /** @constant */
                                kind: "paused";
                                /** Format: date-time */
                                sinceAt: string;
                                source: string;
                                type: string | null;
                            } | {
                                dueAt: string | null;
                                id: string;
                                /** @constant */
                                kind: "behind";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "retry";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "postponed";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "circuit";
                            } | {
                                /** @constant */
                                kind: "places";
                                takenBy: {
                                    count: number;
                                    limit: number | null;
                                    pattern: string;
                                    source: string;
                                }[];
                            } | {
                                dueAt: string | null;
                                /** @constant */
                                kind: "limit";
                                pattern: string;
                            } | {
                                /** @constant */
                                kind: "no_worker";
                            } | {
                                /** @constant */
                                kind: "no_handler";
                            } | {
                                /** @constant */
                                kind: "due";
                            }) | null;
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
                            /** @description Names this content in an action, as `conflict` */
                            hash: string;
                        } | null;
                        /** Format: date-time */
                        lastDeliveryAt: string;
                        nextAttemptAt: string | null;
                        /**
                         * @description `delivery`: with a signature. `backfill`: reconcile read it from the API of the sender. `import`: from another program
                         * @enum {string}
                         */
                        origin: "delivery" | "backfill" | "import";
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
                        /** @description What the event is about, by label. The first is `reference`, if that has a label */
                        references: {
                            label: string;
                            value: string;
                        }[];
                        run: number;
                        /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                        sameAs: string | null;
                        seq: number;
                        source: string;
                        /** @enum {string} */
                        state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                        type: string;
                        /** @description Null when it waits for nothing */
                        waiting: ({
                            /** @constant */
                            kind: "review";
                            sameAs: string | null;
                        } | {
                            /** @constant */
                            kind: "running";
                            /** Format: date-time */
                            sinceAt: string;
                            worker: string;
                        } | {
                            actor: string;
                            /** @constant */
                            kind: "paused";
                            /** Format: date-time */
                            sinceAt: string;
                            source: string;
                            type: string | null;
                        } | {
                            dueAt: string | null;
                            id: string;
                            /** @constant */
                            kind: "behind";
                        } | {
                            /** Format: date-time */
                            dueAt: string;
                            /** @constant */
                            kind: "retry";
                        } | {
                            /** Format: date-time */
                            dueAt: string;
                            /** @constant */
                            kind: "postponed";
                        } | {
                            /** Format: date-time */
                            dueAt: string;
                            /** @constant */
                            kind: "circuit";
                        } | {
                            /** @constant */
                            kind: "places";
                            takenBy: {
                                count: number;
                                limit: number | null;
                                pattern: string;
                                source: string;
                            }[];
                        } | {
                            dueAt: string | null;
                            /** @constant */
                            kind: "limit";
                            pattern: string;
                        } | {
                            /** @constant */
                            kind: "no_worker";
                        } | {
                            /** @constant */
                            kind: "no_handler";
                        } | {
                            /** @constant */
                            kind: "due";
                        }) | null;
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
                            /** @description The line of code that threw the error, if it is known; null for viewers */
                            place: string | null;
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
                        /** @description The event id */
                        id: string;
                        /** @description The name of the source */
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
                    /** @description Keep the present content, in any state of the event, and change nothing else: decides against the open content with this `hash`, or with `true` against all */
                    conflict?: boolean | string;
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
                        /** @description What the handler of an inline source has returned to be sent (`reply`), the latest one; null when it returned none */
                        reply: {
                            body: string;
                            headers: {
                                [key: string]: string;
                            };
                            httpStatus: number;
                        } | null;
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
                    /** @description Run other content: the open one with this `hash`, or with `true` the latest */
                    conflict?: boolean | string;
                    /** @description Report the result without changing anything */
                    dryRun?: boolean;
                    /** @description What you have found out about effects of `ctx.once` whose end is unknown, by name: the result, or `null` when it did not happen */
                    effects?: {
                        [key: string]: unknown;
                    };
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
                    /** @description What you have found out about effects of `ctx.once` whose end is unknown, by name: the result, or `null` when it did not happen */
                    effects?: {
                        [key: string]: unknown;
                    };
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
                        /** @description The event id */
                        id: string;
                        /** @description The name of the source */
                        source: string;
                    }[];
                    /** @description The conditions of `GET /api/events` */
                    filter?: {
                        dead?: boolean;
                        flagged?: boolean;
                        from?: string | number;
                        hasConflict?: boolean;
                        hasDuplicates?: boolean;
                        /** @description The exact event id */
                        id?: string;
                        /** @description With `reference`: its label, such as `customer` */
                        label?: string;
                        minAttempts?: number;
                        /** @description The exact reason of ignored events, such as `unhandled` */
                        reason?: string;
                        /** @description A pattern for the reason or the last error, in which * stands for any text */
                        reasonLike?: string;
                        /** @description The exact value of a reference, whatever its label is */
                        reference?: string;
                        /** @description The name of a source */
                        source?: string;
                        /**
                         * @description Only events in this state
                         * @enum {string}
                         */
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
                     * @description What to do with the events
                     * @enum {string}
                     */
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
    countEvents: {
        parameters: {
            query?: {
                dead?: "true" | "false";
                flagged?: "true" | "false";
                from?: string;
                hasConflict?: "true" | "false";
                hasDuplicates?: "true" | "false";
                id?: string;
                label?: string;
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
            /** @description The number, and whether there are or may be more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                        more: boolean;
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
                                    /** @description Names this content in an action, as `conflict` */
                                    hash: string;
                                } | null;
                                /** Format: date-time */
                                lastDeliveryAt: string;
                                nextAttemptAt: string | null;
                                /**
                                 * @description `delivery`: with a signature. `backfill`: reconcile read it from the API of the sender. `import`: from another program
                                 * @enum {string}
                                 */
                                origin: "delivery" | "backfill" | "import";
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
                                /** @description What the event is about, by label. The first is `reference`, if that has a label */
                                references: {
                                    label: string;
                                    value: string;
                                }[];
                                run: number;
                                /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                                sameAs: string | null;
                                seq: number;
                                source: string;
                                /** @enum {string} */
                                state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                                type: string;
                                /** @description Null when it waits for nothing */
                                waiting: ({
                                    /** @constant */
                                    kind: "review";
                                    sameAs: string | null;
                                } | {
                                    /** @constant */
                                    kind: "running";
                                    /** Format: date-time */
                                    sinceAt: string;
                                    worker: string;
                                } | {
                                    actor: string;
                                    /** @constant */
                                    kind: "paused";
                                    /** Format: date-time */
                                    sinceAt: string;
                                    source: string;
                                    type: string | null;
                                } | {
                                    dueAt: string | null;
                                    id: string;
                                    /** @constant */
                                    kind: "behind";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "retry";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "postponed";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "circuit";
                                } | {
                                    /** @constant */
                                    kind: "places";
                                    takenBy: {
                                        count: number;
                                        limit: number | null;
                                        pattern: string;
                                        source: string;
                                    }[];
                                } | {
                                    dueAt: string | null;
                                    /** @constant */
                                    kind: "limit";
                                    pattern: string;
                                } | {
                                    /** @constant */
                                    kind: "no_worker";
                                } | {
                                    /** @constant */
                                    kind: "no_handler";
                                } | {
                                    /** @constant */
                                    kind: "due";
                                }) | null;
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
                            /** @description Null without a value */
                            duration: {
                                count: number;
                                p50Ms: number | null;
                                p95Ms: number | null;
                                p99Ms: number | null;
                            };
                            /** @enum {string} */
                            kind: "one" | "batch" | "destination";
                            /** @description Holds across all processes */
                            limit: {
                                by: "reference" | null;
                                concurrency: number | null;
                                perSecond: number | null;
                            } | null;
                            /** @description Null: without a limit */
                            maxAttempts: number | null;
                            /** @description `reference`, or the label that events are ordered by */
                            order: string | null;
                            pattern: string;
                            /** @description What holds back all its events */
                            pause: {
                                /** @description Who paused it */
                                actor: string;
                                /** Format: date-time */
                                at: string;
                                /** @description Null for viewers */
                                note: string | null;
                                /** @description The name of a source, or of a consumer such as `stripe/mail` */
                                source: string;
                                /** @description A type or a glob; null: all events of the source */
                                type: string | null;
                            } | null;
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
                            timeoutMs: number | null;
                        }[];
                        /** @description The process that answers: the handlers are those of this process */
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
                            /** @description The unfinished event that was received first, whenever it is due */
                            oldest: {
                                ageMs: number;
                                /** @description The event id */
                                id: string;
                                /** Format: date-time */
                                receivedAt: string;
                                /** @description The name of the source */
                                source: string;
                                waiting: ({
                                    /** @constant */
                                    kind: "review";
                                    sameAs: string | null;
                                } | {
                                    /** @constant */
                                    kind: "running";
                                    /** Format: date-time */
                                    sinceAt: string;
                                    worker: string;
                                } | {
                                    actor: string;
                                    /** @constant */
                                    kind: "paused";
                                    /** Format: date-time */
                                    sinceAt: string;
                                    source: string;
                                    type: string | null;
                                } | {
                                    dueAt: string | null;
                                    id: string;
                                    /** @constant */
                                    kind: "behind";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "retry";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "postponed";
                                } | {
                                    /** Format: date-time */
                                    dueAt: string;
                                    /** @constant */
                                    kind: "circuit";
                                } | {
                                    /** @constant */
                                    kind: "places";
                                    takenBy: {
                                        count: number;
                                        limit: number | null;
                                        pattern: string;
                                        source: string;
                                    }[];
                                } | {
                                    dueAt: string | null;
                                    /** @constant */
                                    kind: "limit";
                                    pattern: string;
                                } | {
                                    /** @constant */
                                    kind: "no_worker";
                                } | {
                                    /** @constant */
                                    kind: "no_handler";
                                } | {
                                    /** @constant */
                                    kind: "due";
                                }) | null;
                            } | null;
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
    pause: {
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
                    /** @description The name of a source, or of a consumer such as `stripe/mail` */
                    source: string;
                    /** @description A type, or a glob such as `invoice.*`; left out: all events */
                    type?: string;
                };
            };
        };
        responses: {
            /** @description What is paused now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False: it was so already */
                        changed: boolean;
                        pauses: {
                            /** @description Who paused it */
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            /** @description Null for viewers */
                            note: string | null;
                            /** @description The name of a source, or of a consumer such as `stripe/mail` */
                            source: string;
                            /** @description A type or a glob; null: all events of the source */
                            type: string | null;
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
    listPauses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By source and type. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        pauses: {
                            /** @description Who paused it */
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            /** @description Null for viewers */
                            note: string | null;
                            /** @description The name of a source, or of a consumer such as `stripe/mail` */
                            source: string;
                            /** @description A type or a glob; null: all events of the source */
                            type: string | null;
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
    resume: {
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
                    /** @description The name of a source, or of a consumer such as `stripe/mail` */
                    source: string;
                    /** @description A type, or a glob such as `invoice.*`; left out: all events */
                    type?: string;
                };
            };
        };
        responses: {
            /** @description What is paused now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description False: it was so already */
                        changed: boolean;
                        pauses: {
                            /** @description Who paused it */
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            /** @description Null for viewers */
                            note: string | null;
                            /** @description The name of a source, or of a consumer such as `stripe/mail` */
                            source: string;
                            /** @description A type or a glob; null: all events of the source */
                            type: string | null;
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
                label?: string;
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
                                /** @description Names this content in an action, as `conflict` */
                                hash: string;
                            } | null;
                            /** Format: date-time */
                            lastDeliveryAt: string;
                            nextAttemptAt: string | null;
                            /**
                             * @description `delivery`: with a signature. `backfill`: reconcile read it from the API of the sender. `import`: from another program
                             * @enum {string}
                             */
                            origin: "delivery" | "backfill" | "import";
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
                            /** @description What the event is about, by label. The first is `reference`, if that has a label */
                            references: {
                                label: string;
                                value: string;
                            }[];
                            run: number;
                            /** @description Set on a flagged event: the id of the event with the same signed content. The sender does not sign the id */
                            sameAs: string | null;
                            seq: number;
                            source: string;
                            /** @enum {string} */
                            state: "pending" | "processing" | "succeeded" | "ignored" | "failed";
                            type: string;
                            /** @description Null when it waits for nothing */
                            waiting: ({
                                /** @constant */
                                kind: "review";
                                sameAs: string | null;
                            } | {
                                /** @constant */
                                kind: "running";
                                /** Format: date-time */
                                sinceAt: string;
                                worker: string;
                            } | {
                                actor: string;
                                /** @constant */
                                kind: "paused";
                                /** Format: date-time */
                                sinceAt: string;
                                source: string;
                                type: string | null;
                            } | {
                                dueAt: string | null;
                                id: string;
                                /** @constant */
                                kind: "behind";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "retry";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "postponed";
                            } | {
                                /** Format: date-time */
                                dueAt: string;
                                /** @constant */
                                kind: "circuit";
                            } | {
                                /** @constant */
                                kind: "places";
                                takenBy: {
                                    count: number;
                                    limit: number | null;
                                    pattern: string;
                                    source: string;
                                }[];
                            } | {
                                dueAt: string | null;
                                /** @constant */
                                kind: "limit";
                                pattern: string;
                            } | {
                                /** @constant */
                                kind: "no_worker";
                            } | {
                                /** @constant */
                                kind: "no_handler";
                            } | {
                                /** @constant */
                                kind: "due";
                            }) | null;
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
                        /** @description What this role may do */
                        permissions: ("read" | "detail" | "act" | "payload" | "work")[];
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
                    /** @description A token of the admin API */
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
                        /** @description What this role may do */
                        permissions: ("read" | "detail" | "act" | "payload" | "work")[];
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
                            /** @description It has an API key, so that the log can be compared with the sender’s own list */
                            canReconcile: boolean;
                            /** @enum {string} */
                            conflict: "ack" | "reject";
                            /** @enum {string} */
                            contentGuard: "review" | "accept" | "reject";
                            idIsSigned: boolean;
                            /** @enum {string} */
                            mode: "background" | "inline";
                            name: string;
                            /** @description `reference`, or the label that events are ordered by */
                            order: string | null;
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
                        /** @description Why it needs a person: it is silent, its deliveries are rejected, a type has stopped */
                        alarms: {
                            /** @enum {string} */
                            kind: "silent" | "rejected" | "stopped";
                            /** Format: date-time */
                            since: string;
                            text: string;
                            todo: string;
                        }[];
                        answer: {
                            httpStatus: number;
                            /** @description How long the sender waits for the answer */
                            timeLimitMs: number | null;
                        };
                        /** @description It has an API key, so that the log can be compared with the sender’s own list */
                        canReconcile: boolean;
                        commands: {
                            /** @description Null when a delivery needs a signature */
                            curl: string | null;
                            send: string;
                        };
                        /** @enum {string} */
                        conflict: "ack" | "reject";
                        /** @enum {string} */
                        contentGuard: "review" | "accept" | "reject";
                        /** @description What its sender does with an endpoint that fails, if it documents that */
                        disables: {
                            again: string;
                            docs: string;
                            when: string;
                        } | null;
                        /** @description The types that have a handler in this process */
                        handled: string[];
                        idIsSigned: boolean;
                        /** @enum {string} */
                        mode: "background" | "inline";
                        name: string;
                        /** @description `reference`, or the label that events are ordered by */
                        order: string | null;
                        /** @description Accepted of all deliveries in 24 hours; null without any */
                        passRate: number | null;
                        /** @description The path of its deliveries on the receiving server */
                        path: string;
                        provider: {
                            docs: string;
                            key: string;
                            name: string;
                        };
                        /** @description Null when hookonce knows no list of this sender */
                        reconcile: {
                            /** @description The schedule; null without one */
                            every: string | number | null;
                            last: {
                                /** @enum {string} */
                                by: "schedule" | "request";
                                /** Format: date-time */
                                comparedUntil: string;
                                /**
                                 * Format: date-time
                                 * @description From `since` to here, the log has every event that the sender lists
                                 */
                                completeUntil: string;
                                /** @description The sender has switched the endpoint off */
                                disabled: boolean;
                                dryRun: boolean;
                                error: string | null;
                                /** @description The log has them from this window, and the sender does not list them. They stay */
                                extra: number;
                                /** @description The ids of the first extra events */
                                extras: string[];
                                finishedAt: string | null;
                                id: string;
                                /** @description The log has them */
                                known: number;
                                /** @description The first events that are still missing */
                                lacking: {
                                    id: string;
                                    /** Format: date-time */
                                    occurredAt: string;
                                    type: string;
                                    why: string | null;
                                }[];
                                /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                                listed: number;
                                /** @description The log did not have them */
                                missing: number;
                                /** @description What agreement means, and what it does not */
                                proves: string;
                                /** @description Missing ones that the log has now */
                                recovered: number;
                                /** @description Requests to the sender */
                                requests: number;
                                /** Format: date-time */
                                since: string;
                                source: string;
                                /** Format: date-time */
                                startedAt: string;
                                /** @enum {string} */
                                state: "running" | "complete" | "failed";
                                types: {
                                    [key: string]: {
                                        /** @description The log has them from this window, and the sender does not list them. They stay */
                                        extra: number;
                                        /** @description The log has them */
                                        known: number;
                                        /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                                        listed: number;
                                        /** @description The log did not have them */
                                        missing: number;
                                        /** @description Missing ones that the log has now */
                                        recovered: number;
                                        /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
                                        waiting: number;
                                    };
                                };
                                /** @description Listed events that this endpoint does not get */
                                unsubscribed: number;
                                /** Format: date-time */
                                until: string;
                                /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
                                waiting: number;
                            } | null;
                            /** @description What is missing before the log can be compared; null when it can */
                            problem: string | null;
                            /** @description Null before the first run has ended */
                            summary: {
                                /** Format: date-time */
                                checkedAt: string;
                                /**
                                 * Format: date-time
                                 * @description The log has everything up to here
                                 */
                                completeUntil: string;
                                extra: number;
                                /** @description The sender lists them and the log lacks them, after the last run that ended */
                                missing: number;
                            } | null;
                        } | null;
                        /** @description In 24 hours, over all processes, the most frequent first */
                        rejections: {
                            count: number;
                            reason: string;
                            todo: string;
                        }[];
                        /** @description When its silence is reported if nothing comes; null while its rhythm is not known */
                        reportsSilenceAt: string | null;
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
    reconcileSource: {
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
                    /**
                     * @description Compare, and record nothing
                     * @default false
                     */
                    dryRun?: boolean;
                    /** @description How long ago (`3d`), or a date in ISO 8601 */
                    since?: string;
                    /** @description How long ago (`3d`), or a date in ISO 8601 */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description The report, when the comparison has ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {string} */
                        by: "schedule" | "request";
                        /** Format: date-time */
                        comparedUntil: string;
                        /**
                         * Format: date-time
                         * @description From `since` to here, the log has every event that the sender lists
                         */
                        completeUntil: string;
                        /** @description The sender has switched the endpoint off */
                        disabled: boolean;
                        dryRun: boolean;
                        error: string | null;
                        /** @description The log has them from this window, and the sender does not list them. They stay */
                        extra: number;
                        /** @description The ids of the first extra events */
                        extras: string[];
                        finishedAt: string | null;
                        id: string;
                        /** @description The log has them */
                        known: number;
                        /** @description The first events that are still missing */
                        lacking: {
                            id: string;
                            /** Format: date-time */
                            occurredAt: string;
                            type: string;
                            why: string | null;
                        }[];
                        /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                        listed: number;
                        /** @description The log did not have them */
                        missing: number;
                        /** @description What agreement means, and what it does not */
                        proves: string;
                        /** @description Missing ones that the log has now */
                        recovered: number;
                        /** @description Requests to the sender */
                        requests: number;
                        /** Format: date-time */
                        since: string;
                        source: string;
                        /** Format: date-time */
                        startedAt: string;
                        /** @enum {string} */
                        state: "running" | "complete" | "failed";
                        types: {
                            [key: string]: {
                                /** @description The log has them from this window, and the sender does not list them. They stay */
                                extra: number;
                                /** @description The log has them */
                                known: number;
                                /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                                listed: number;
                                /** @description The log did not have them */
                                missing: number;
                                /** @description Missing ones that the log has now */
                                recovered: number;
                                /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
                                waiting: number;
                            };
                        };
                        /** @description Listed events that this endpoint does not get */
                        unsubscribed: number;
                        /** Format: date-time */
                        until: string;
                        /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
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
    listReconciles: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reports. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        reports: {
                            /** @enum {string} */
                            by: "schedule" | "request";
                            /** Format: date-time */
                            comparedUntil: string;
                            /**
                             * Format: date-time
                             * @description From `since` to here, the log has every event that the sender lists
                             */
                            completeUntil: string;
                            /** @description The sender has switched the endpoint off */
                            disabled: boolean;
                            dryRun: boolean;
                            error: string | null;
                            /** @description The log has them from this window, and the sender does not list them. They stay */
                            extra: number;
                            /** @description The ids of the first extra events */
                            extras: string[];
                            finishedAt: string | null;
                            id: string;
                            /** @description The log has them */
                            known: number;
                            /** @description The first events that are still missing */
                            lacking: {
                                id: string;
                                /** Format: date-time */
                                occurredAt: string;
                                type: string;
                                why: string | null;
                            }[];
                            /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                            listed: number;
                            /** @description The log did not have them */
                            missing: number;
                            /** @description What agreement means, and what it does not */
                            proves: string;
                            /** @description Missing ones that the log has now */
                            recovered: number;
                            /** @description Requests to the sender */
                            requests: number;
                            /** Format: date-time */
                            since: string;
                            source: string;
                            /** Format: date-time */
                            startedAt: string;
                            /** @enum {string} */
                            state: "running" | "complete" | "failed";
                            types: {
                                [key: string]: {
                                    /** @description The log has them from this window, and the sender does not list them. They stay */
                                    extra: number;
                                    /** @description The log has them */
                                    known: number;
                                    /** @description The sender lists them, and has sent them to this endpoint: `known` + `missing` */
                                    listed: number;
                                    /** @description The log did not have them */
                                    missing: number;
                                    /** @description Missing ones that the log has now */
                                    recovered: number;
                                    /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
                                    waiting: number;
                                };
                            };
                            /** @description Listed events that this endpoint does not get */
                            unsubscribed: number;
                            /** Format: date-time */
                            until: string;
                            /** @description Missing ones that the sender was asked to deliver again, and that have not arrived */
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
    signSample: {
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
                    /** @description The event type of the sample (default: the first) */
                    type?: string;
                };
            };
        };
        responses: {
            /** @description The command. Senders whose signature has a time accept it only for some minutes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Null where the signature does not cover the body: it could be used again for another */
                        curl: string | null;
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
                    /** @description The event type of the sample (default: the first) */
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
    getRowWriter: {
        parameters: {
            query: {
                key: string;
                note?: string;
                table: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who wrote it. */
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
                            id: string;
                            /** @enum {string} */
                            outcome: "succeeded" | "ignored" | "failed" | "lost";
                            /** @description The line of code that threw the error, if it is known; null for viewers */
                            place: string | null;
                            reference: string | null;
                            run: number;
                            source: string;
                            /** Format: date-time */
                            startedAt: string;
                            type: string;
                            worker: string;
                        }[];
                        /**
                         * @description `attempt`: the transaction of `attempts` wrote the row. `near`: no attempt has recorded that transaction; those of `attempts` came before it, and one of them may have written the row inside a savepoint
                         * @enum {string}
                         */
                        found: "attempt" | "near" | "none";
                        key: {
                            [key: string]: string;
                        };
                        /** @description With its schema */
                        table: string;
                        /** @description `xmin` of the row */
                        transactionId: string;
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
                    /** @description Leases of claimed events */
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
                    /**
                     * @description The events are due again after this time
                     * @default 0
                     */
                    delayMs?: number;
                    /** @description Leases of claimed events */
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
                    /** @description An outcome for each lease */
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
                        /**
                         * @description What the worker has learned that the event is about; the first 20 are kept. They are written together with the outcome, and not with a failure
                         * @default []
                         */
                        references?: {
                            /** @description Letters, digits, dashes and underscores, such as `payment` */
                            label: string;
                            value: string | number;
                        }[];
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
