/** The parameter by which a model says which secrets a call needs. Tools have it only where there are some. */
import * as Schema from "effect/Schema"

export const requests = (names: ReadonlyArray<string>) =>
  ofNames(names, "Credentials to send along, each only to its own host; you never see the values.")

export const programs = (names: ReadonlyArray<string>) =>
  ofNames(names, "Credentials to set as environment variables; you never see the values.")

const ofNames = (names: ReadonlyArray<string>, description: string) =>
  Schema.optionalKey(Schema.Array(Schema.Literals(names)).annotate({ description }))
