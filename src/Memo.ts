/** Work that is done once for an object, and remembered for as long as the object is in memory. */

/** The same object always gives the same result: `make` must depend on nothing that changes. */
export const byIdentity = <K extends WeakKey, A>(make: (key: K) => A): ((key: K) => A) => {
  const made = new WeakMap<K, { readonly value: A }>()
  return (key) => {
    const before = made.get(key)
    if (before !== undefined) return before.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}
