/** `endpoint.json`: how the clients of a data directory find its daemon. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { Endpoint, fileName } from "../../src/rpc/Endpoint.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import { Incarnation } from "../../src/storage/Incarnation.ts"
import { version } from "../cli/Version.ts"
import * as NodeProcess from "../storage/NodeProcess.ts"
import * as PrivateFile from "../storage/PrivateFile.ts"
import * as Unusable from "../storage/Unusable.ts"
import * as Address from "./Address.ts"

/** How often it is looked whether the file is still there. */
const interval = "2 seconds"

/**
 * Announces the server for the life of the layer, and again when the file is deleted. Built last, so that whoever finds the
 * file finds the server up.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const directory = yield* DataDirectory
    const files = yield* FileSystem.FileSystem
    const server = yield* HttpServer.HttpServer
    const { id } = yield* Incarnation
    const { pid } = yield* NodeProcess.self
    const path = directory.file(fileName)
    const text = yield* encode({ url: Address.urlOf(server.address), pid, incarnation: id, version })
    const announce = PrivateFile.write(path, `${text}\n`)
    // Another process may have taken the directory since, and what is there then is of that one.
    const withdraw = files.readFileString(path).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(format)),
      Effect.flatMap(({ incarnation }) => (incarnation === id ? files.remove(path, { force: true }) : Effect.void)),
      Effect.ignore
    )
    yield* PrivateFile.refuseOtherKinds(directory, fileName)
    yield* Effect.acquireRelease(Effect.mapError(announce, Unusable.directory(directory.path)), () => withdraw)
    const announceAgain = Effect.flatMap(files.exists(path), (exists) => (exists ? Effect.void : announce))
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(announceAgain), Schedule.spaced(interval)))
  })
)

const format = Schema.fromJsonString(Endpoint)
const encode = (endpoint: Endpoint) => Effect.orDie(Schema.encodeEffect(format)(endpoint))
