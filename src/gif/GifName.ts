/** What the managed files of pictures are called. */

/** By their content, so that the same picture is one file. */
export const make = (sha256: string): string => `gif-${sha256.slice(0, 16)}.gif`

export const isOurs = (name: string): boolean => /^gif-[0-9a-f]{16}\.gif$/.test(name)
