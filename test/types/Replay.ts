/** A tool says what a restart may do with a call that was running. */
import * as Tool from "../../src/tool/Tool.ts"
import { declaration, limits } from "./Given.ts"

// @ts-expect-error says nothing
export const Silent = Tool.make("silent", { ...declaration, limits })
// instead: export const Silent = Tool.make("silent", { ...declaration, limits, replay: "unknown" })

// @ts-expect-error says something that means nothing
export const Vague = Tool.make("vague", { ...declaration, limits, replay: "maybe" })
// instead: export const Vague = Tool.make("vague", { ...declaration, limits, replay: "idempotent" })

// @ts-expect-error says it by a parameter that it does not take
export const Misled = Tool.make("misled", { ...declaration, limits, replay: "unknown", replayOf: ({ to }) => to })
// instead: export const Misled = Tool.make("misled", { ...declaration, limits, replay: "unknown", replayOf: ({ path }) => (path === "" ? "safe" : "unknown") })

// @ts-expect-error says it for some calls and not for those that nobody can read
export const Partial = Tool.make("partial", { ...declaration, limits, replayOf: () => "safe" })
// instead: export const Partial = Tool.make("partial", { ...declaration, limits, replay: "unknown", replayOf: () => "safe" })
