import manifest from "../../package.json" with { type: "json" }

/** The version of this package, as `package.json` says it; in a bundle it is a constant. */
export const version: string = manifest.version
