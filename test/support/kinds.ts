/** The kinds of every provider that has some, by catalogue key: each file of test/providers/kinds exports one list. */
import { readdir } from 'node:fs/promises'
import type { Kinds } from 'hookonce/testing/contracts'

export interface KindFile {
  readonly file: string
  readonly exported: Readonly<Record<string, Kinds>>
}

export async function kindFiles(): Promise<readonly KindFile[]> {
  const folder = new URL('../providers/kinds/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort()
  return Promise.all(
    files.map(async (file) => ({
      file,
      exported: await import(new URL(file, folder).pathname),
    })),
  )
}

export async function kindsByKey(): Promise<ReadonlyMap<string, Kinds>> {
  return new Map((await kindFiles()).flatMap(({ exported }) => Object.entries(exported)))
}
