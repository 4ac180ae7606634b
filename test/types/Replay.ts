/** A tool says what a restart may do with a call that was running. */
import * as Tool from "../../src/tool/Tool.ts"
import { declaration, limits } from "./Given.ts"

// @ts-expect-error says nothing
export const Silent = Tool.make("silent", { ...declaration, limits })
// instead: export const Silent = Tool.make("silent", { ...declaration, limits, replay: "unknown" })

// @ts-expect-error says something that means nothing
export const Vague = Tool.make("vague", { ...declaration, limits, replay: "maybe" })
// instead: export const Vague = Tool.make("vague", { ...declaration, limits, replay: "idempotent" })
