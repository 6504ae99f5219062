/**
 * Decides whether a build can work with a schema. Each migration stores the oldest schema number that a build must know
 * to work with it, and the version of hookonce that applied it. Old and new processes can so share a log during a deploy.
 */
import { HookonceError } from '../../errors.js'
import type { Migration } from '../../store.js'

/** A migration that is applied to the log and unknown to this build. */
export interface NewerMigration {
  readonly number: number
  readonly compatibleFrom: number
  readonly version: string | null
}

/** By default every build can work with a migration. */
export function compatibleFrom(migration: Migration): number {
  return migration.compatibleFrom ?? 1
}

/** The schema number that a build must know; 0 when the log has no newer migration. */
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
