import { part } from './parts.mjs'

/**
 * npm run mutants:score: Stryker changes the built files of the hot core one expression at a time, and counts the changes
 * that the tests below notice. It mutates `dist`, because the tests import the package as it is shipped.
 *
 * HOOKONCE_SCORE=intake chooses another part of `parts.mjs` than the schemes.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/score/vitest.config.ts', related: false },
  mutate: part.files.map((glob) => `dist/${glob}`),
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // A mutant in code that runs once, at import, needs a whole run of its own: they took 93 % of the time.
  ignoreStatic: true,
  // For mutants that never end. A test that only waits is ended by its own limit, which costs no new process.
  timeoutMS: 20_000,
  disableTypeChecks: false,
  // Texts of errors are for people; the tests look at their codes.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignorePatterns: ['bench', 'dashboard', 'docs/images', 'deploy', 'examples', '.cache'],
  reporters: ['clear-text'],
  clearTextReporter: { allowColor: false, reportTests: false, reportMutants: true },
  tempDirName: '.score',
}
