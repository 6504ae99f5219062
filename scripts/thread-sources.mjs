/**
 * Writes the code of each thread as text into `dist/.../thread-source.js`, from which it is started. A part of
 * `npm run build`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/**
 * Returns the names of the files it has written below `dist`.
 * @param {string} dist
 */
export function writeThreadSources(dist) {
  const { version } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8'))
  return ['stores/sqlite', 'spool'].map((folder) => {
    const { outputFiles } = buildSync({
      entryPoints: [join(dist, folder, 'thread.js')],
      bundle: true,
      write: false,
      // A script that a worker evaluates is CommonJS. Names are kept, because errors are named by their class.
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minify: true,
      keepNames: true,
      // The place of the bundle, which the starter of the thread knows.
      banner: { js: 'var hookonceBase=require("node:worker_threads").workerData.base;' },
      define: { 'import.meta.url': 'hookonceBase', HOOKONCE_VERSION: JSON.stringify(version) },
    })
    const name = join(folder, 'thread-source.js')
    const text = JSON.stringify(outputFiles[0]?.text ?? '')
    writeFileSync(join(dist, name), `export const threadSource = ${text};\n`)
    return name
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeThreadSources(fileURLToPath(new URL('../dist', import.meta.url)))
