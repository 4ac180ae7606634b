/** Files are on disk with their message or not at all, on every store. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as AttachmentsLive from "../../layers/attachment/Attachments.ts"
import { Attachments } from "../../src/attachment/Attachments.ts"
import * as Messages from "../laws/Messages.ts"
import * as Store from "../laws/Store.ts"
import * as Images from "./Images.ts"

const file = (content: Uint8Array, name = "a.png") => ({ name, mediaType: "image/png", width: 8, height: 6, content })

const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly sha256: string; readonly bytes: number }>`SELECT sha256, bytes FROM attachments`
)

for (const backend of Store.backends) {
  describe(`files of messages: ${backend.name}`, () => {
    const law = <E>(name: string, body: (process: Store.Process) => Effect.Effect<void, E, SqlClient.SqlClient>) =>
      it.live(name, () => Effect.scoped(Effect.flatMap(Store.startProcess, body)).pipe(Effect.provide(backend.layer)))

    law("are written with their message, each content once, and found by their hash", (process) =>
      Effect.gen(function* () {
        const [one, other] = [Images.png(8, 6, 10), Images.png(8, 6, 20)]
        const { threadId } = yield* process.journal.accept(
          Messages.message({ attachments: [file(one), file(other, "b.png"), file(one, "c.png")] })
        )
        yield* process.journal.accept(Messages.message({ attachments: [file(other)] }))
        const { entries } = yield* process.threads.entries(threadId, { from: 1, limit: 10 })
        const written = entries.flatMap(({ entry }) => (entry._tag === "UserMessage" ? entry.attachments : []))
        assert.deepStrictEqual(
          written.map(({ bytes, name }) => [name, bytes]),
          [
            ["a.png", one.length],
            ["b.png", other.length],
            ["c.png", one.length],
            ["a.png", other.length]
          ]
        )
        assert.deepStrictEqual(Object.keys(written[0] ?? {}).toSorted(), [
          "bytes",
          "height",
          "mediaType",
          "name",
          "sha256",
          "width"
        ])
        assert.strictEqual((yield* rows).length, 2)
        const context = yield* Layer.build(AttachmentsLive.layer)
        const found = yield* Context.get(context, Attachments).contents(written.map(({ sha256 }) => sha256))
        assert.deepStrictEqual([...found.values()].map(({ length }) => length).toSorted(), [one.length, other.length])
        assert.deepStrictEqual(new Uint8Array(found.get(written[1]?.sha256 ?? "") ?? []), other)
      }).pipe(Effect.scoped)
    )

    law("are not written with a message that came before", (process) =>
      Effect.gen(function* () {
        yield* process.journal.accept(Messages.message({ externalId: "same" }))
        const again = Messages.message({ externalId: "same", attachments: [file(Images.png())] })
        assert.isTrue((yield* process.journal.accept(again)).duplicate)
        assert.deepStrictEqual(yield* rows, [])
      })
    )
  })
}
