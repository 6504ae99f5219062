/** Who may do what. Every route names one permission; this table is the only place that grants it. */
export const roles = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof roles)[number]

/**
 * `read`: the log without payloads and without texts that may quote one. `detail`: those texts (errors, reasons), and
 * the audit. `order`: retry, replay, ignore. `payload`: the bytes. `work`: claim and settle, which includes the bytes.
 */
export type Permission = 'read' | 'detail' | 'order' | 'payload' | 'work'

const grants: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  operator: ['read', 'detail', 'order'],
  admin: ['read', 'detail', 'order', 'payload', 'work'],
  worker: ['work'],
}

export function may(role: Role, permission: Permission): boolean {
  return grants[role].includes(permission)
}

export function rolesThatMay(permission: Permission): Role[] {
  return roles.filter((role) => may(role, permission))
}

export function isRole(value: unknown): value is Role {
  return roles.includes(value as Role)
}
