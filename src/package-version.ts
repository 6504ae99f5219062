import { readFileSync } from 'node:fs'

/** The build writes it into the scripts of threads, which do not know where the package is. */
declare const HOOKONCE_VERSION: string | undefined

/** Null when package.json cannot be read, for example in a bundle. */
export function packageVersion(): string | null {
  if (typeof HOOKONCE_VERSION === 'string') return HOOKONCE_VERSION
  try {
    const file = new URL('../package.json', import.meta.url)
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
    return name === 'hookonce' ? (version ?? null) : null
  } catch {
    return null
  }
}
