/** `troupe/testing`: the whole runtime for tests, and a model that follows a script. */
export * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
export * as TestRuntime from "./TestRuntime.ts"
