/** `troupe/testing`: layers for tests, among them a model that follows a script. */
export * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
