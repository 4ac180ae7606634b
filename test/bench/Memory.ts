/** How long `memory_search` takes over very many notes of one owner, through the whole pipeline of tools. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as MemoryGrant from "../../layers/memory/MemoryGrant.ts"
import * as NoteRows from "../../layers/memory/NoteRows.ts"
import * as Notes from "../../layers/memory/Notes.ts"
import * as Migrations from "../../layers/storage/Migrations.ts"
import * as SqliteClient from "../../layers/storage/SqliteClient.ts"
import * as Memory from "../../layers/tools/memory/Memory.ts"
import * as Ids from "../../src/Ids.ts"
import * as Fixtures from "../tool/Fixtures.ts"
import type { Measurement } from "./Report.ts"

const count = 100_000
const searches = 400
const warmUp = 20

/** In milliseconds, for the slowest of twenty. */
const target = 20

export const measure = (): Promise<ReadonlyArray<Measurement>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const filename = `${yield* files.makeTempDirectoryScoped({ prefix: "troupe-bench-" })}/notes.db`
      return yield* Effect.provide(run, tools(filename))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

const tools = (filename: string) =>
  Layer.provideMerge(Memory.layer, MemoryGrant.layer).pipe(
    Layer.provideMerge(Notes.layer),
    Layer.provideMerge(
      Layer.provideMerge(
        Layer.effectDiscard(Effect.andThen(Migrations.run(filename), fill)),
        SqliteClient.layer({ filename, synchronous: "normal" })
      )
    ),
    Layer.provideMerge(Fixtures.pipeline({ tools: { kv_memory: { enabled: true, max_notes: count } } }))
  )

const run = Effect.gen(function* () {
  const turn = yield* Fixtures.startTurn()
  const next = makeRandom(7)
  const times: Array<number> = []
  for (let index = 0; index < warmUp + searches; index++) {
    const given = query(index, next)
    const began = performance.now()
    const result = yield* Fixtures.callTool(turn, "memory_search", given)
    if (result.status !== "success") return yield* Effect.die(result.text)
    if (index >= warmUp) times.push(performance.now() - began)
  }
  times.sort((one, other) => one - other)
  const part = (ratio: number) => times[Math.min(times.length - 1, Math.floor(times.length * ratio))] ?? 0
  const measured = (name: string, value: number, more: Partial<Measurement> = {}): Measurement => ({
    name: `memory_search over ${count.toLocaleString("en").replace(",", " ")} notes, ${name}`,
    value: Math.round(value * 10) / 10,
    unit: "ms",
    ...more
  })
  return [
    measured("median", part(0.5)),
    measured("p95", part(0.95), { target, note: `${searches} searches of nine kinds` }),
    measured("slowest", part(1))
  ]
})

/** Nine kinds of searches in turn: what people ask, what finds nothing, and words that most notes have. */
const query = (index: number, next: () => number): object => {
  const word = () => wordOf(next)
  const rare = () => `w${Math.floor(vocabulary * (0.5 + next() / 2)).toString(36)}x`
  const kinds = [
    () => ({ query: word() }),
    () => ({ query: `${word()} ${word()}` }),
    () => ({ query: `${word()} ${word()} ${rare()}` }),
    () => ({ query: rare() }),
    () => ({ query: rare().slice(0, 3) }),
    () => ({ query: `${word()}-${word()}` }),
    () => ({ query: word(), category: "travel", limit: 50 }),
    () => ({ query: "nothing has these words" }),
    () => ({ offset: Math.floor(next() * 1000) })
  ]
  return kinds[index % kinds.length]?.() ?? {}
}

const vocabulary = 20_000
const categories = ["finance", "travel", "health", "other"]

/** Few words are frequent and most are rare, as in any text. */
const wordOf = (next: () => number): string => `w${Math.floor(vocabulary ** next()).toString(36)}x`

const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const next = makeRandom(1)
  const text = (words: number) => Array.from({ length: words }, () => wordOf(next)).join(" ")
  yield* sql`INSERT INTO note_owners (number, owner, next) VALUES (1, 'primary', ${count + 1})`
  const threadId = yield* Ids.makeThreadId
  const writing = Effect.gen(function* () {
    for (let number = 1; number <= count; number++) {
      const by = { threadId, callId: yield* Ids.makeCallId, agent: "troupe" }
      yield* NoteRows.insert(
        sql,
        { row: NoteRows.rowOf(1, number), owner: 1 },
        {
          id: yield* Ids.makeNoteId,
          ownerId: "primary",
          title: `${text(4)} ${number}`,
          data: text(40),
          category: categories[number % categories.length] ?? "other",
          metadata: {},
          source: null,
          createdAt: number,
          updatedAt: number,
          expiresAt: null,
          createdBy: by,
          updatedBy: by
        }
      )
    }
  })
  yield* sql.withTransaction(writing)
  // As it is after a while: folded into the file.
  yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
})

/** Numbers from 0 to 1, always the same ones. */
const makeRandom = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
