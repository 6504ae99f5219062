/**
 * The seed of the property tests: the same in every `npm test`, so that a red run is red for everybody; another each time
 * with HOOKONCE_PROPERTY_SEED=random (`npm run chaos -- property`). It is printed either way.
 */
const given = process.env.HOOKONCE_PROPERTY_SEED ?? '1861824441'

export const seed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given)

console.info(`HOOKONCE_PROPERTY_SEED=${seed}`)
