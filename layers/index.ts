/** `troupe/layers`: the live layers, one namespace per module, to compose a runtime of one's own. */
export * as SqliteClient from "./storage/SqliteClient.ts"
