import type { Migration } from 'hookonce/testing/contracts'
import { onTestFinished } from 'vitest'

/** Adds a migration to the list of a store until the end of the test. Returns its number. */
export function addMigration(list: readonly Migration[], migration: Omit<Migration, 'number' | 'name'>) {
  const number = list.at(-1)!.number + 1
  ;(list as Migration[]).push({ number, name: 'next', ...migration })
  onTestFinished(() => void (list as Migration[]).pop())
  return number
}
