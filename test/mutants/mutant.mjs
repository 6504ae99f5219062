/**
 * A mutant: a deliberately broken build. `changes` replaces texts of `src/`, each of which must occur exactly once in its
 * file; keep them short, so that unrelated edits do not touch them. `tests` names the tests that must fail for it. A
 * mutant that no test notices shows that a promise is not tested.
 *
 * `npm run mutants` applies each one in a copy of the package and runs its tests; `npm test` only checks that every
 * patch still applies.
 */

/** @typedef {{ file: string, find: string, replace: string }} Change */
/** @typedef {{ file: string, title: string }} NamedTest */
/**
 * @typedef {object} Mutant
 * @property {string} name
 * @property {string} promise  The promise that the mutant breaks.
 * @property {Change[]} changes
 * @property {NamedTest[]} tests  `title` is a part of the title.
 * @property {true} [breaksModel]  It breaks a rule of `test/model/rules.pml`: the check of traces alone notices it.
 */

/** A case of the store contract on SQLite. @param {string} title @returns {NamedTest} */
export const onSqlite = (title) => ({ file: 'test/stores/sqlite.test.ts', title })

/** A case of the store contract on PostgreSQL. @param {string} title @returns {NamedTest} */
export const onPostgres = (title) => ({ file: 'test/stores/postgres.test.ts', title })

/**
 * The text of the file with the change. Throws when the text to replace is missing or ambiguous.
 * @param {string} text @param {Change} change @param {string} name
 */
export function applied(text, { file, find, replace }, name) {
  const found = text.split(find).length - 1
  if (found !== 1)
    throw new Error(
      `The mutant "${name}" does not apply: ${JSON.stringify(find)} occurs ${found} times in ${file}, not once. Change its \`find\` in test/mutants/ so that it breaks the same promise again.`,
    )
  return text.replace(find, () => replace)
}
