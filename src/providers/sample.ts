/**
 * Sample bodies: one JSON file for each provider in `samples/`, under the provider's file name. `send`, `dev`, `check`
 * and `testing` send them, so they are in the npm package.
 */
import { readFileSync } from 'node:fs'
import type { Samples } from '../verification/define-provider.js'

/**
 * The samples of a file, read when they are first needed. It is not an import: an import would load the samples in
 * production, and a dynamic import would make `sample()` asynchronous.
 */
export function sampleFile(name: string): () => Samples {
  // A name and not a text at `new URL`: bundlers copy every file that such a text could mean.
  const path = `./samples/${name}.json`
  return () => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
