/** Rules that several sections have in common. */
import * as Duration from "effect/Duration"
import type { Finding, Path } from "./Rule.ts"

interface Time {
  readonly path: Path
  readonly time: Duration.Duration
}

/**
 * A time that was written must not be longer than the one around it, since it could never apply. A default may be: it gives
 * way. `ends` is what the outer time ends.
 */
export const within = (
  written: (path: Path) => boolean,
  inner: Time,
  outer: Time & { readonly ends: string }
): ReadonlyArray<Finding> => {
  if (!written(inner.path) || Duration.isLessThanOrEqualTo(inner.time, outer.time)) return []
  const name = `[${outer.path.slice(0, -1).join(".")}].${outer.path.at(-1)}`
  return [
    {
      path: inner.path,
      found: `a longer time than ${name}`,
      expected: `at most ${Duration.toSeconds(outer.time)} seconds, after which ${outer.ends} ends`,
      hint: `shorten it, or lengthen ${name}`,
      reads: [outer.path]
    }
  ]
}

/** What the protocol allows in the name of a header. */
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** The names in a table of headers. */
export const headerNames = (path: Path, headers: { readonly [name: string]: unknown }): ReadonlyArray<Finding> =>
  Object.keys(headers)
    .filter((name) => !headerName.test(name))
    .map((name) => ({
      path: [...path, name],
      found: "a name that is no name of a header",
      expected: 'letters, digits and "-"'
    }))
