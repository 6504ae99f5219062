/** The code of `thread.ts` as one script, for bundles. `scripts/thread-sources.mjs` replaces the built file. */
export const threadSource: string = ''
