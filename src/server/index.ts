/** hookonce as a server, and its admin API for mounting in an application. */
export { type Admin, admin, fastifyAdmin, nodeAdmin } from './admin/admin.js'
export type { Access, AdminOptions, Peer, Role, Token } from './admin/options.js'
export type { Listening, TlsOptions } from './bind.js'
export type { ServerOptions } from './options.js'
export { type CloseOptions, createServer, type HookonceServer } from './server.js'
export { type Running, runUntilSignal, type SignalOptions } from './signals.js'
export type { TrustProxy } from './trust-proxy.js'
