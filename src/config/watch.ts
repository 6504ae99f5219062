import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type LoadedConfig, loadConfig } from './load.js'

/** Editors write a file in several steps. */
const QUIET_MS = 100

interface WatchOptions {
  /** An error that it throws goes to `onProblem`. */
  readonly onChange: (loaded: LoadedConfig) => void | Promise<void>
  readonly onProblem: (error: unknown) => void
}

export function watchConfig(
  { path, files: loadedFiles }: LoadedConfig,
  { onChange, onProblem }: WatchOptions,
): { close(): void } {
  const watchers = new Map<string, FSWatcher>()
  let files = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let reloading: Promise<void> = Promise.resolve()
  let closed = false

  /** Watches folders: an editor may replace the file, and a watch of the old file would see nothing. */
  function follow(paths: readonly string[]): void {
    files = new Set(paths)
    const folders = new Set(paths.map((path) => dirname(path)))
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
    for (const folder of folders) {
      if (watchers.has(folder)) continue
      const watcher = watch(folder, (_event, name) => {
        // Some systems do not report the name of the file.
        if (name === null || [...files].some((path) => dirname(path) === folder && basename(path) === name))
          changed()
      })
      watcher.on('error', onProblem)
      watchers.set(folder, watcher)
    }
  }

  function changed(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      reloading = reloading.then(reload)
    }, QUIET_MS)
  }

  async function reload(): Promise<void> {
    if (closed) return
    try {
      const next = await loadConfig({ path })
      follow(next.files)
      await onChange(next)
    } catch (error) {
      onProblem(error)
    }
  }

  follow(loadedFiles)
  return {
    close() {
      closed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}
