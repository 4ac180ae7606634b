/** A daemon for the lifetime of one console: the same daemon on a free port, and a client of it. */
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as CommandLine from "../config/CommandLine.ts"
import * as Connection from "../cli/Connection.ts"
import * as Address from "../rpc/Address.ts"
import * as Daemon from "./Daemon.ts"

export const layer = (place: CommandLine.Place) =>
  Layer.unwrap(
    Effect.map(HttpServer.HttpServer, ({ address }) => Connection.clientLayer({ url: Address.urlOf(address) }, "layer"))
  ).pipe(Layer.provide(Daemon.layer({ ...place, port: 0, terminalLog: false })))
