/**
 * Looking up words that strangers chose, such as names of models, in plain objects. `object[word]` would also find what every
 * object has: `constructor`, `toString`. Tables of ours are `Map`s, where nothing of the kind can happen.
 */

/** The value under a key of the object itself. */
export const get = <A>(table: { readonly [key: string]: A }, key: string): A | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined
