/** Tokens by what they were used for, and the bars of `troupe usage`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Style from "../../src/cli/Style.ts"
import * as UsageText from "../../src/cli/UsageText.ts"
import * as Ids from "../../src/Ids.ts"
import * as Entry from "../../src/thread/Entry.ts"
import * as Usage from "../../src/usage/Usage.ts"
import * as Program from "../cli/Program.ts"
import * as FakeOpenAi from "../model/FakeOpenAi.ts"

const day = 86_400_000
const dayOf = (at: number) => `day ${Math.floor(at / day)}`

const answer = (turnId: Ids.TurnId, model: string, usage: Entry.Usage) =>
  Entry.Entry.make({
    _tag: "AssistantMessage",
    turnId,
    step: 1,
    text: "",
    reasoning: [],
    calls: [],
    finishReason: "stop",
    provider: "p",
    model,
    usage
  })

const judged = (turnId: Ids.TurnId, usage: Entry.Usage) =>
  Entry.Entry.make({
    _tag: "ToolUseJudged",
    turnId,
    step: 1,
    needed: false,
    reason: "",
    provider: "p",
    model: "judge",
    usage
  })

/** Two threads: one that went from the agent `old` to `new`, one of `other`. */
const gathered = Effect.fnUntraced(function* (by: Usage.Grouping, since = 0) {
  const [first, second, third] = [yield* Ids.makeTurnId, yield* Ids.makeTurnId, yield* Ids.makeTurnId]
  const gather = Usage.gather(by, since, dayOf)
  const started = (turnId: Ids.TurnId, agent: string) =>
    Entry.Entry.make({ _tag: "TurnStarted", turnId, messageIds: [], agent })
  const one = gather.thread("console:a", "new")
  const two = gather.thread("console:b", "other")
  const entries = [
    { at: 1, entry: started(first, "old") },
    { at: 2, entry: answer(first, "big", { inputTokens: 100, outputTokens: 10, cachedInputTokens: 60 }) },
    { at: 3, entry: judged(first, { inputTokens: 5, outputTokens: 1 }) },
    { at: day, entry: started(second, "new") },
    { at: day, entry: answer(second, "small", { inputTokens: 30, outputTokens: 4, reasoningTokens: 3 }) }
  ]
  entries.forEach((stored, index) => one({ seq: index + 1, ...stored }))
  // Its beginning is not among the entries.
  two({ seq: 1, at: 2 * day, entry: answer(third, "big", { inputTokens: 1_000, outputTokens: 0 }) })
  return gather.report()
})

const names = ({ rows }: Usage.Report) => rows.map((row) => [row.name, Usage.tokensOf(row), row.responses])

describe("tokens", () => {
  it.effect("are added up by day, agent, thread and model, and the sum is the same", () =>
    Effect.gen(function* () {
      const days = yield* gathered("day")
      assert.deepStrictEqual(names(days), [
        ["day 0", 116, 2],
        ["day 1", 34, 1],
        ["day 2", 1_000, 1]
      ])
      assert.deepStrictEqual(names(yield* gathered("agent")), [
        ["other", 1_000, 1],
        ["old", 116, 2],
        ["new", 34, 1]
      ])
      assert.deepStrictEqual(names(yield* gathered("thread")), [
        ["console:b", 1_000, 1],
        ["console:a", 150, 3]
      ])
      const models = yield* gathered("model")
      assert.deepStrictEqual(names(models), [
        ["p/big", 1_110, 2],
        ["p/small", 34, 1],
        ["p/judge", 6, 1]
      ])
      const total = { inputTokens: 1_135, outputTokens: 15, cachedInputTokens: 60, reasoningTokens: 3, responses: 4 }
      assert.deepStrictEqual(days.total, total)
      assert.deepStrictEqual(models.total, total)
    })
  )

  it.effect("from before the time that is asked for do not count, but the agent that was said then does", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(names(yield* gathered("agent", 3)), [
        ["other", 1_000, 1],
        ["new", 34, 1],
        ["old", 6, 1]
      ])
    })
  )

  it.effect("of more threads than are told apart are added up as others, and none is lost", () =>
    Effect.gen(function* () {
      const turnId = yield* Ids.makeTurnId
      const gather = Usage.gather("thread", 0, dayOf)
      for (let index = 0; index < 1_200; index++) {
        const entry = answer(turnId, "m", { inputTokens: 1, outputTokens: 0 })
        gather.thread(`console:${index}`, "main")({ seq: 1, at: 1, entry })
      }
      const { rows, total } = gather.report()
      assert.lengthOf(rows, 1_001)
      assert.deepInclude(rows[0], { name: Usage.others, inputTokens: 200, responses: 200 })
      assert.strictEqual(total.inputTokens, 1_200)
    })
  )
})

describe("bars", () => {
  const lines = Effect.fnUntraced(function* (columns: number, ascii = true) {
    return UsageText.report(yield* gathered("model"), { columns, ascii, style: Style.none }).split("\n")
  })
  const bars = (text: ReadonlyArray<string>, mark: RegExp) => text.map((line) => line.match(mark)?.[0].length ?? 0)

  it.effect("are as long as the tokens, at least one mark, and within the width", () =>
    Effect.gen(function* () {
      const wide = yield* lines(200)
      assert.deepStrictEqual(bars(wide, /#+/), [0, 40, 1, 1, 0, 0])
      assert.include(wide[1] ?? "", "1,100")
      assert.include(wide[4] ?? "", "all")
      const narrow = yield* lines(70)
      assert.isAtMost(Math.max(...narrow.map((line) => line.length)), 69)
      assert.isAbove(bars(narrow, /#+/)[1] ?? 0, 3)
      // No room: the figures stay.
      assert.deepStrictEqual(bars(yield* lines(20), /#+/), [0, 0, 0, 0, 0, 0])
      assert.deepStrictEqual(bars(yield* lines(200, false), /█+/), [0, 40, 1, 1, 0, 0])
    })
  )

  it("stand for names that a terminal would act on, without acting on them", () => {
    const row = { name: "console:\u001b[2J", ...Entry.noUsage, inputTokens: 1, responses: 1 }
    const report: Usage.Report = { by: "thread", since: 0, rows: [row], total: row }
    assert.notInclude(UsageText.report(report, { columns: 80, ascii: true, style: Style.none }), "\u001b")
    const nothing = { ...report, rows: [] }
    assert.include(UsageText.report(nothing, { columns: 80, ascii: true, style: Style.none }), "No model has answered")
  })
})

const settings = (provider: string) => `
[llm]
provider = "fake"
model = "fake"
[providers.fake]
base_url = "${provider}"
api_key = "none"
`

const says = FakeOpenAi.stream(
  FakeOpenAi.delta({ role: "assistant", content: "Done." }),
  FakeOpenAi.delta({}, "stop"),
  FakeOpenAi.usage({
    prompt_tokens: 1_200,
    completion_tokens: 34,
    total_tokens: 1_234,
    prompt_tokens_details: { cached_tokens: 1_000 }
  }),
  FakeOpenAi.done
)

it.live(
  "troupe usage tells what a daemon has recorded, also after it was killed",
  () =>
    Effect.gen(function* () {
      const at = yield* Program.place
      const provider = yield* FakeOpenAi.make([says, says, says])
      const config = settings(provider.baseUrl)
      const killed = yield* Program.daemon(at, config)
      yield* Program.run(at, ["chat", "--once", "one"])
      yield* Program.run(at, ["chat", "--thread", "work", "--once", "two"])
      killed.process.kill("SIGKILL")
      yield* killed.ended
      yield* Program.daemon(at, config)
      yield* Program.run(at, ["chat", "--thread", "work", "--once", "three"])

      const { code, stderr, stdout } = yield* Program.run(at, ["usage", "--by", "thread"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(stdout.split("\n"), [
        "  thread        input  cached  output  reasoning  responses",
        "  console:work  2,400   2,000      68          0          2  ##################",
        "  console:main  1,200   1,000      34          0          1  #########",
        "  all           3,600   3,000     102          0          3",
        ""
      ])
      const json = JSON.parse((yield* Program.run(at, ["usage", "--by", "model", "--json"])).stdout)
      const tokens = {
        inputTokens: 3_600,
        outputTokens: 102,
        cachedInputTokens: 3_000,
        reasoningTokens: 0,
        responses: 3
      }
      assert.deepInclude(json, { by: "model", rows: [{ name: "fake/fake", ...tokens }], total: tokens })

      const zone = yield* Program.run(at, ["usage", "--time-zone", "Nowhere/Land"])
      assert.strictEqual(zone.code, 2)
      assert.include(zone.stderr, "is no time zone")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  120_000
)
