/** The ledger in tables, and its part in changes of files. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import { Settings } from "../../src/config/Settings.ts"
import * as FileChanges from "../../src/file/FileChanges.ts"
import { FileError } from "../../src/file/FileError.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as LedgerMetrics from "../../src/ledger/LedgerMetrics.ts"
import type * as SideEffect from "../../src/ledger/SideEffect.ts"
import type { StorageUnavailable } from "../../src/storage/StorageError.ts"
import * as Defects from "../storage/Defects.ts"
import * as KeptContents from "./KeptContents.ts"
import * as LedgerRows from "./LedgerRows.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { max_file_bytes: most } = (yield* Settings).ledger

  /** What a path was, read and kept in one go. */
  const look = Effect.fnUntraced(function* (affected: FileChanges.Affected) {
    const before = yield* affected.before
    const { absolute, path } = affected
    return { before, absolute, path, content: yield* KeptContents.read(affected, before, most) }
  })

  const begin = Effect.fn("Ledger.begin")(function* ({
    action,
    affected,
    author,
    root
  }: FileChanges.Change): Effect.fn.Return<FileChanges.Finish, FileError> {
    if (author._tag === "Runtime") return () => Effect.void
    const looked = yield* Effect.forEach(affected, look)
    const now = yield* Clock.currentTimeMillis
    const what = (after: ReadonlyArray<SideEffect.FileState>) =>
      LedgerRows.encodeFiles({
        action,
        paths: looked.map(({ absolute, before, path }, index) => ({
          root,
          path,
          absolute,
          before,
          after: after[index] ?? null
        }))
      })
    const ord = yield* Defects.orUnavailable(
      sql.withTransaction(
        Effect.gen(function* () {
          for (const { content } of looked) if (content !== undefined) yield* KeptContents.write(sql, content, now)
          return yield* LedgerRows.begin(sql, author, { kind: "FilesChanged", what: what([]) }, now)
        })
      )
    ).pipe(Effect.mapError((error) => notRecorded(affected, error)))
    return (outcome) =>
      (outcome._tag === "NotMade"
        ? Effect.andThen(sql`DELETE FROM side_effects WHERE ord = ${ord}`, Effect.void)
        : Effect.flatMap(
            Effect.orElseSucceed(outcome.after, () => []),
            (after) => Effect.andThen(LedgerRows.end(sql, ord, "made", what(after)), LedgerMetrics.filesChanged(action))
          )
      ).pipe(
        Effect.catchCause((cause) => Effect.logWarning("A change of files was made and is only half recorded", cause))
      )
  })

  const around: Ledger["Service"]["around"] = (call, effect) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const { line, tool } = call
        const ord = yield* Defects.orUnavailable(
          LedgerRows.begin(sql, call, { kind: "CallMade", what: LedgerRows.encodeCall({ tool, line }) }, now)
        )
        const exit = yield* Effect.exit(restore(effect))
        yield* LedgerRows.end(sql, ord, Exit.isSuccess(exit) ? "made" : "failed").pipe(
          Effect.andThen(LedgerMetrics.callMade),
          Effect.catchCause((cause) => Effect.logWarning("A call was made and its end is not recorded", cause))
        )
        return yield* exit
      })
    )

  const ledger = Ledger.of({
    around,
    ofTurn: Effect.fn("Ledger.ofTurn")((threadId, turnId, most) =>
      Defects.orDefect(LedgerRows.ofTurn(sql, threadId, turnId, most))
    ),
    undoable: Effect.fn("Ledger.undoable")((threadId) => Defects.orDefect(LedgerRows.undoable(sql, threadId)))
  })
  return Context.make(Ledger, ledger).pipe(Context.add(FileChanges.FileChanges, { begin }))
})

/** Everything that changes files must be above this layer, to be recorded. */
export const layer: Layer.Layer<Ledger, never, SqlClient.SqlClient | Settings> = Layer.effectContext(make)

const notRecorded = ([first]: ReadonlyArray<FileChanges.Affected>, error: StorageUnavailable) =>
  new FileError({
    reason: "not_recorded",
    path: first?.path ?? "",
    detail: `What it was could not be kept (${error.reason}), so it was not changed. Try again.`
  })
