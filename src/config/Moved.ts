/** Keys that people know from elsewhere, and the key of ours that does the same. */
export const moved: ReadonlyMap<string, string> = new Map([["default_owner_id", "runtime.owner_id"]])
