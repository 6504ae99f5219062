/** Lint and format. `npm run format` mends what can be mended. */
import { tool } from './run.mjs'

export const lint = {
  name: 'lint',
  run: () => tool('biome', ['check', '--error-on-warnings', '--colors=off', '.']),
}
