/**
 * Which builds can work with a schema. Each migration says the oldest schema number a build must know to work with it,
 * and by which version of hookonce it was applied, so that old and new processes run side by side while one is deployed.
 */
import { readFileSync } from 'node:fs'
import { HookonceError } from '../../errors.js'
import type { Migration } from '../../store.js'

/** A migration that is in the log and not known here. */
export interface NewerMigration {
  readonly number: number
  /** Null: written by nobody who knows of it, so it cannot be relied on. */
  readonly compatibleFrom: number | null
  readonly version: string | null
}

/** The migration from which on the others are written down with what they need. */
export const NOTED_SINCE = 'deploys'

/** Every build that knows of this rule can work with a migration that says nothing else. */
export function compatibleFrom(migration: Migration): number {
  return migration.compatibleFrom ?? 1
}

/** The schema number a build must know; 0 when nothing is newer. */
export function neededBy(newer: readonly NewerMigration[]): number {
  return Math.max(0, ...newer.map(needOf))
}

/** SCHEMA_NEWER when a migration that is not known here needs a later hookonce. */
export function insistOnCompatible(newer: readonly NewerMigration[], known: number): void {
  const needed = neededBy(newer)
  if (needed <= known) return
  const found = Math.max(...newer.map(({ number }) => number))
  const version = newer.find((one) => one.number >= needed)?.version
  const upgrade = version ? `hookonce ${version} or later` : 'a later hookonce'
  throw new HookonceError('SCHEMA_NEWER', { found, needed, known, upgrade })
}

function needOf({ number, compatibleFrom: from }: NewerMigration): number {
  return from ?? number
}

/** Of this package; null where it cannot be read, as in a bundle. */
export function packageVersion(): string | null {
  try {
    const file = new URL('../../../package.json', import.meta.url)
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    return name === 'hookonce' ? (version ?? null) : null
  } catch {
    return null
  }
}
