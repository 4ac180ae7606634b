/** Reading `endpoint.json`, for the clients of a data directory. */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Endpoint, fileName } from "../../src/rpc/Endpoint.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"
import * as NodeProcess from "../storage/NodeProcess.ts"

/** What the file says, if it is there, whole, and of a process that exists. Whether that is a daemon, it must show itself. */
export const read: Effect.Effect<Option.Option<Endpoint>, never, DataDirectory | FileSystem.FileSystem> = Effect.gen(
  function* () {
    const files = yield* FileSystem.FileSystem
    const path = (yield* DataDirectory).file(fileName)
    // Opening a pipe waits for its writer, in a way that nothing can interrupt.
    const { size, type } = yield* files.stat(path)
    if (type !== "File" || ByteSize.isGreaterThan(size, longest)) return Option.none<Endpoint>()
    const text = yield* files.readFileString(path)
    const endpoint = yield* decode(text)
    return (yield* NodeProcess.isAlive(endpoint.pid)) ? Option.some(endpoint) : Option.none()
  }
).pipe(Effect.orElseSucceed(() => Option.none()))

const longest = ByteSize.bytes(64 * 1024)

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Endpoint))
