/** `endpoint.json`: how the clients of a data directory find its daemon. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Endpoint, fileName } from "../../src/rpc/Endpoint.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { DataDirectoryUnusable } from "../../src/storage/StorageError.ts"
import { version } from "../cli/Version.ts"
import * as NodeProcess from "../storage/NodeProcess.ts"
import * as PrivateFile from "../storage/PrivateFile.ts"
import * as Address from "./Address.ts"

/** Announces the server for the life of the layer. Built last, so that whoever finds the file finds the server up. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const directory = yield* DataDirectory
    const files = yield* FileSystem.FileSystem
    const server = yield* HttpServer.HttpServer
    const { id } = yield* Incarnation
    const { pid } = yield* NodeProcess.self
    const path = directory.file(fileName)
    const text = yield* encode({ url: Address.urlOf(server.address), pid, incarnation: id, version })
    yield* Effect.acquireRelease(
      Effect.mapError(
        PrivateFile.write(path, `${text}\n`),
        (error) => new DataDirectoryUnusable({ path: directory.path, reason: error.message })
      ),
      // The lock on the directory is still held, so the file is still ours.
      () => Effect.ignore(files.remove(path, { force: true }))
    )
  })
)

const format = Schema.fromJsonString(Endpoint)
const encode = (endpoint: Endpoint) => Effect.orDie(Schema.encodeEffect(format)(endpoint))
