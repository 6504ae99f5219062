/**
 * Writes the code of each thread as text into `dist/.../thread-source.js`. A part of `npm run build`: a bundler does not
 * find the file of a thread, so a bundle starts its threads from this text.
 */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const dist = fileURLToPath(new URL('../dist', import.meta.url))

for (const folder of ['stores/sqlite', 'spool']) {
  const { outputFiles } = await build({
    entryPoints: [`${dist}/${folder}/thread.js`],
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
    define: { 'import.meta.url': 'hookonceBase' },
  })
  const text = JSON.stringify(outputFiles[0]?.text ?? '')
  await writeFile(`${dist}/${folder}/thread-source.js`, `export const threadSource = ${text};\n`)
}
