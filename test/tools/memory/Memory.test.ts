import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Memory from "../../../layers/tools/memory/Memory.ts"
import type { SettingsInput } from "../../../src/config/Settings.ts"
import { pageBytes } from "../../../src/memory/Notes.ts"
import * as ToolLaws from "../../laws/Tools.ts"
import * as Fixtures from "../../tool/Fixtures.ts"
import * as TestMemory from "../TestMemory.ts"

type KvMemory = NonNullable<NonNullable<SettingsInput["tools"]>["kv_memory"]>

const tools = (kv_memory: KvMemory = {}) =>
  Layer.merge(Memory.layer, TestMemory.layer()).pipe(
    Layer.provideMerge(Fixtures.pipeline({ tools: { kv_memory: { enabled: true, ...kv_memory } } }))
  )

ToolLaws.laws("memory", tools())

const Data = Schema.Record(Schema.String, Schema.Json)
const isRecord = Schema.is(Data)

/** What a call gives, which must be a success. */
const call = Effect.fnUntraced(function* (name: string, parameters: object) {
  const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), `memory_${name}`, parameters)
  assert.strictEqual(result.status, "success", result.text)
  return isRecord(result.data) ? result.data : {}
})

const refusal = Effect.fnUntraced(function* (name: string, parameters: object) {
  const result = yield* Fixtures.callTool(yield* Fixtures.startTurn(), `memory_${name}`, parameters)
  assert.isTrue(isRecord(result.data) && result.data["ok"] === false)
  return { code: result.errorCode, text: result.text, details: isRecord(result.data) ? result.data["details"] : null }
})

const car = { title: "Car", data: "A blue van", category: "vehicles" }
const titlesIn = (data: typeof Data.Type, list: "entries" | "titles") =>
  Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ title: Schema.String })))(data[list]).map(({ title }) => title)

describe("the tools for notes", () => {
  it.effect("save, find, change and delete a note", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2027, 0, 1))
      const created = yield* call("create", {
        ...car,
        category: " Vehicles ",
        metadata: '{"plate": "X 1"}',
        source: "user",
        expires_at: "2028-01-01"
      })
      assert.deepInclude(created, {
        created: true,
        owner_id: "primary",
        title: "Car",
        data: "A blue van",
        category: "vehicles",
        metadata: { plate: "X 1" },
        source: "user",
        created_at: "2027-01-01T00:00:00.000Z",
        updated_at: "2027-01-01T00:00:00.000Z",
        expires_at: "2028-01-01T00:00:00.000Z"
      })
      const entry_id = String(created["id"])
      const changed = yield* call("update", { entry_id, data: "A red van", metadata: "{}", expires_at: "never" })
      assert.deepInclude(changed, { updated: true, data: "A red van", source: "user", metadata: {}, expires_at: null })
      const { updated: _, ...whole } = changed
      assert.deepStrictEqual(yield* call("get", { entry_id }), whole)
      const found = yield* call("search", { query: "red" })
      assert.deepInclude(found, { owner_id: "primary", total: 1, limit: 20, offset: 0, next_offset: null })
      const { created_by: _by, updated_by: _with, ...entry } = whole
      assert.deepStrictEqual(found["entries"], [entry])
      assert.deepStrictEqual((yield* call("list_titles", {}))["titles"], [
        { id: entry_id, title: "Car", category: "vehicles", updated_at: "2027-01-01T00:00:00.000Z", source: "user" }
      ])
      assert.deepStrictEqual(yield* call("delete", { entry_id }), { owner_id: "primary", deleted: true, entry_id })
      assert.strictEqual((yield* call("search", { query: "red" }))["total"], 0)
      assert.isString((yield* call("list_titles", {}))["hint"])
    }).pipe(Effect.provide(tools()))
  )

  it.effect("a note says which call wrote it, in which thread", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      const { data } = yield* Fixtures.callTool(turn, "memory_create", car)
      const by = isRecord(data) ? data["created_by"] : null
      assert.deepInclude(by, { thread_id: turn.scope.threadId, agent: "troupe" })
      assert.deepStrictEqual(by, isRecord(data) ? data["updated_by"] : null)
    }).pipe(Effect.provide(tools()))
  )

  it.effect("a second note of the title is refused with the first; a deleted one is said to be deleted", () =>
    Effect.gen(function* () {
      const id = String((yield* call("create", car))["id"])
      const duplicate = yield* refusal("create", { ...car, title: "car", data: "other" })
      assert.strictEqual(duplicate.code, "memory:create:duplicate_title")
      assert.nestedPropertyVal({ details: duplicate.details }, "details.existing_entry.id", id)
      yield* call("delete", { entry_id: id })
      const gone = yield* refusal("get", { entry_id: id })
      assert.deepStrictEqual(gone.details, {
        operation: "get",
        entry_id: id,
        deleted_at: "1970-01-01T00:00:00.000Z"
      })
      assert.notInclude(gone.text, "van")
    }).pipe(Effect.provide(tools()))
  )

  it.effect("times are inclusive, and UTC where they do not say otherwise", () =>
    Effect.gen(function* () {
      for (const day of [1, 2, 3]) {
        yield* TestClock.setTime(Date.UTC(2027, 0, day, 12))
        yield* call("create", { ...car, title: `day ${day}` })
      }
      const titles = (selection: object) =>
        Effect.map(call("list_titles", selection), (data) => titlesIn(data, "titles").join())
      assert.strictEqual(yield* titles({ updated_after: "2027-01-02T12:00:00" }), "day 3,day 2")
      assert.strictEqual(yield* titles({ updated_after: "2027-01-02T13:00:00+01:00" }), "day 3,day 2")
      assert.strictEqual(yield* titles({ updated_before: "2027-01-02" }), "day 2,day 1")
      assert.strictEqual(yield* titles({ updated_before: "2027-01-02T11:59:59.999Z" }), "day 1")
      assert.strictEqual(yield* titles({ updated_after: " ", category: "", source: null }), "day 3,day 2,day 1")
    }).pipe(Effect.provide(tools()))
  )

  it.effect("an answer holds as many as the settings allow, and no more than a page", () =>
    Effect.gen(function* () {
      for (let index = 0; index < 8; index++) {
        yield* call("create", { ...car, title: `n ${index}`, data: "z ".repeat(pageBytes / 8) })
      }
      assert.deepInclude(yield* call("search", { limit: 100 }), { limit: 5, total: 8, next_offset: 3 })
      assert.deepInclude(yield* call("search", { limit: -3 }), { limit: 1, next_offset: 1 })
      assert.deepInclude(yield* call("list_titles", {}), { limit: 2, next_offset: 2 })
      const rest = yield* call("search", { query: "n", offset: 6, limit: 5 })
      assert.lengthOf(titlesIn(rest, "entries"), 2)
      assert.isNull(rest["next_offset"])
    }).pipe(Effect.provide(tools({ default_limit: 2, max_limit: 5 })))
  )

  it.effect("the categories are those of the settings", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refusal("create", car)).code, "memory:invalid_arguments:invalid_category")
      assert.include((yield* refusal("create", car)).text, "animals, plants")
      yield* call("create", { ...car, category: "Animals" })
      const turn = yield* Fixtures.startTurn()
      const offer = turn.offers.find(({ name }) => name === "memory_create")
      assert.include(JSON.stringify(offer?.parameters), "One of: animals, plants.")
    }).pipe(Effect.provide(tools({ categories: ["Animals", "plants"] })))
  )

  it.effect("there are none unless they are turned on", () =>
    Effect.gen(function* () {
      const turn = yield* Fixtures.startTurn()
      assert.notInclude(turn.offers.map(({ name }) => name).join(), "memory_")
    }).pipe(Effect.provide(tools({ enabled: false })))
  )
})
