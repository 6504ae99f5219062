/** The code of `thread.ts` as one script. `scripts/thread-sources.mjs` replaces the built file. */
export const threadSource: string = ''
