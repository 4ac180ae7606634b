/** Where a running daemon of a data directory is reached: what its file `endpoint.json` says. */
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"

export const Endpoint = Schema.Struct({
  url: Schema.String,
  pid: Schema.Int,
  incarnation: Ids.IncarnationId,
  version: Schema.String
})
export type Endpoint = typeof Endpoint.Type

/** The name of the file in the data directory. */
export const fileName = "endpoint.json"
