/** hookonce as a server, and its admin API for mounting in an application. */
export { type Admin, admin } from './admin/admin.js'
export { nodeAdmin } from './admin/mount.js'
export type { Access, AdminOptions, Peer, Token } from './admin/options.js'
export type { Role } from './admin/roles.js'
