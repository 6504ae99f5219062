/**
 * Old and new processes share a log during a deploy. Each migration stores the oldest schema number that a build must know
 * to work with it, and the version of hookonce that applied it.
 */
import { HookonceError } from '../../errors.js'
import type { Migration } from '../../store.js'

export interface NewerMigration {
  readonly number: number
  readonly compatibleFrom: number
  readonly version: string | null
}

export function compatibleFrom(migration: Migration): number {
  return migration.compatibleFrom ?? 1
}

export function neededBy(newer: readonly NewerMigration[]): number {
  return Math.max(0, ...newer.map((migration) => migration.compatibleFrom))
}

/** Throws SCHEMA_NEWER when an unknown migration needs a later hookonce. */
export function insistOnCompatible(newer: readonly NewerMigration[], known: number): void {
  const needed = neededBy(newer)
  if (needed <= known) return
  const found = Math.max(...newer.map(({ number }) => number))
  const version = newer.find(({ number }) => number >= needed)?.version
  const upgrade = version ? `hookonce ${version} or later` : 'a later hookonce'
  throw new HookonceError('SCHEMA_NEWER', { found, needed, known, upgrade })
}
