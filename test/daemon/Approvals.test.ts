/** A question that waits while its daemon is killed, as a real process with a real store. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Entry from "../../src/thread/Entry.ts"
import * as Approvals from "../../src/approval/Approvals.ts"
import { createTroupe } from "../../src/client/index.ts"
import * as Program from "../cli/Program.ts"

const settings = `[tools.approval]\ntimeout_seconds = 600\nrequire_approval = ["calculate*"]\n`

const Listed = Schema.fromJsonString(
  Schema.Struct({ type: Schema.Literal("question"), question: Approvals.ApprovalRequest })
)
const decodeQuestion = Schema.decodeEffect(Listed)
const decodeHistory = Schema.decodeUnknownEffect(Schema.Array(Schema.fromJsonString(Entry.StoredEntry)))

const linesOf = (text: string) => text.split("\n").filter((line) => line.trim() !== "")
const patiently = { while: (error: unknown) => error === "not yet", schedule: Schedule.spaced("100 millis") }

const question = (at: Program.Place) =>
  Effect.gen(function* () {
    const [line] = linesOf((yield* Program.run(at, ["approvals", "--json"])).stdout)
    return line === undefined ? yield* Effect.fail("not yet" as const) : (yield* decodeQuestion(line)).question
  }).pipe(Effect.retry(patiently))

const finished = (at: Program.Place) =>
  Effect.gen(function* () {
    const { stdout } = yield* Program.run(at, ["history", "console:main", "--json"])
    const entries = (yield* decodeHistory(linesOf(stdout))).map(({ entry }) => entry)
    return entries.some(({ _tag }) => _tag === "TurnEnded") ? entries : yield* Effect.fail("not yet" as const)
  }).pipe(Effect.retry(patiently))

const decodeEndpoint = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))

/** Sends a message, and lets nobody answer its questions. */
const hand = Effect.fnUntraced(function* (at: Program.Place, text: string) {
  const files = yield* FileSystem.FileSystem
  const { url } = yield* decodeEndpoint(yield* files.readFileString(`${at.data}/endpoint.json`))
  const token = (yield* files.readFileString(`${at.data}/token`)).trim()
  const troupe = createTroupe({ url, token })
  yield* Effect.forkScoped(Effect.ignore(Effect.tryPromise(() => troupe.send(text, { thread: "console:main" }))))
})

const kill = (running: Program.Running) =>
  Effect.andThen(
    Effect.sync(() => running.process.kill("SIGKILL")),
    running.ended
  )

describe("a daemon killed while a question waits", () => {
  it.live(
    "asks the same question after the restart, which is answered once, and runs the call once",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const first = yield* Program.daemon(at, settings)
        yield* hand(at, "what is 6*7?")
        const before = yield* question(at)
        assert.include((yield* Program.run(at, ["status"])).stdout, "1 question for a person")
        yield* kill(first)

        yield* Program.daemon(at, settings)
        assert.deepStrictEqual(yield* question(at), before)
        const foreign = yield* Program.run(at, ["approvals", "decide", before.approvalId, "yes", "--as", "mallory"])
        assert.notStrictEqual(foreign.code, 0)
        assert.include(foreign.stderr, "only the people that the settings name")
        const granted = yield* Program.run(at, ["approvals", "decide", before.approvalId, "yes", "--for", "thread"])
        assert.strictEqual(granted.stdout, "Done.\n", granted.stderr)
        assert.notStrictEqual((yield* Program.run(at, ["approvals", "decide", before.approvalId, "no"])).code, 0)
        const entries = yield* finished(at)
        assert.deepStrictEqual(
          entries.flatMap((entry) => (entry._tag === "ToolResult" ? [entry.outcome] : [])),
          ["completed"]
        )

        const listed = (yield* Program.run(at, ["approvals"])).stdout
        const [grantId = ""] = /gra_\w+/.exec(listed) ?? []
        assert.include(listed, "calculate_expression")
        assert.strictEqual((yield* Program.run(at, ["approvals", "revoke", grantId])).stdout, "Taken back.\n")
        assert.include((yield* Program.run(at, ["approvals"])).stdout, "Nothing is allowed beyond its call.")
      }).pipe(Effect.provide(NodeServices.layer)),
    { timeout: 120_000 }
  )
})
