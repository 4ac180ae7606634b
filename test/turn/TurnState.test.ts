import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type * as Entry from "../../src/thread/Entry.ts"
import * as TurnState from "../../src/turn/TurnState.ts"
import * as Entries from "./Entries.ts"

const { ended, folded, judged, request, response, result, resumed, started, turn, user } = Entries

const bounds: TurnState.Limits = {
  judged: false,
  maxSteps: 5,
  maxToolCalls: 6,
  toolOf: () => ({ polling: false, replay: "safe", identifiedBy: [] })
}

const limits = bounds

const fold = (entries: ReadonlyArray<Entry.Entry>) => entries.reduce(TurnState.apply, TurnState.initial(turn(1)))
const next = (...entries: ReadonlyArray<Entry.Entry>) => TurnState.next(fold([user(1), started(), ...entries]), limits)

/** What comes next, in a word or two. */
const word = (...entries: ReadonlyArray<Entry.Entry>): string => {
  const decision = next(...entries)
  switch (decision._tag) {
    case "RunCall":
      return `run ${decision.call.callId.slice(-1)}${decision.doubt === "crashed" ? " in doubt" : ""}`
    case "RefuseCalls":
      return `refuse ${decision.calls.map(({ callId }) => callId.slice(-1)).join("")}: ${decision.code}`
    case "GiveUp":
      return decision.reason
    default:
      return decision._tag
  }
}

const calls = (...ids: ReadonlyArray<number>) => ids.map((n) => request(n))
const failure = (n: number) =>
  result(n, { outcome: "failed", text: `failure ${n}`, data: { failure_signature: "the same" } })

describe("what comes next", () => {
  const table: ReadonlyArray<readonly [string, ReadonlyArray<Entry.Entry>, string]> = [
    ["a question", [], "AskModel"],
    ["an answer", [response(1)], "Answered"],
    ["an answer and a newer message", [response(1), folded([2])], "AskModel"],
    ["calls", [response(1, calls(1, 2))], "run 1"],
    ["calls, one of which has its result", [response(1, calls(1, 2)), result(1)], "run 2"],
    ["calls with all their results", [response(1, calls(1, 2)), result(1), result(2)], "AskModel"],
    ["results in another order", [response(1, calls(1, 2)), result(2)], "run 1"],
    ["a second result of a call", [response(1, calls(1, 2)), result(1), result(1)], "run 2"],
    ["a crash before the first call", [response(1, calls(1, 2)), resumed(2)], "run 1 in doubt"],
    ["a crash between calls", [response(1, calls(1, 2)), result(1), resumed(2)], "run 2 in doubt"],
    ["a crash between steps", [response(1, calls(1)), result(1), resumed(2)], "AskModel"],
    ["a crash, its result, and the next call", [response(1, calls(1, 2)), resumed(2), result(1)], "run 2"],
    ["a life that ended on purpose", [response(1, calls(1)), resumed(1)], "run 1"],
    [
      "a crash, and then a life that ended on purpose",
      [response(1, calls(1)), resumed(2), resumed(2)],
      "run 1 in doubt"
    ],
    [
      "a life that ended on purpose, and then a crash",
      [response(1, calls(1)), resumed(1), resumed(2)],
      "run 1 in doubt"
    ],
    ["a crash long before", [resumed(2), response(1, calls(1)), resumed(2)], "run 1"],
    [
      "a response cut by the output limit",
      [response(1, calls(1, 2), { finishReason: "length" })],
      "refuse 12: invalid_tool_arguments"
    ],
    [
      "a response that just stopped coming",
      [response(1, calls(1), { finishReason: TurnState.unfinished })],
      "refuse 1: invalid_tool_arguments"
    ],
    [
      "a response that the provider's content rules cut",
      [response(1, calls(1), { finishReason: "content-filter" })],
      "refuse 1: invalid_tool_arguments"
    ],
    [
      "a response that broke off",
      [response(1, calls(1), { finishReason: "error" })],
      "refuse 1: invalid_tool_arguments"
    ],
    ["a denial", [response(1, calls(1, 2, 3)), result(1, { outcome: "denied" })], "refuse 23: turn:after_denial"],
    [
      "a denial in the response before",
      [response(1, calls(1)), result(1, { outcome: "denied" }), response(2, calls(2))],
      "run 2"
    ],
    [
      "more calls than are left",
      [response(1, calls(1, 2, 3, 4)), result(1), result(2), result(3), result(4), response(2, calls(5, 6, 7))],
      "refuse 567: turn:max_tool_calls"
    ],
    [
      "as many calls as are left",
      [response(1, calls(1, 2, 3, 4)), result(1), result(2), result(3), result(4), response(2, calls(5, 6)), result(5)],
      "run 6"
    ],
    [
      "calls that were skipped, which do not count",
      [
        response(1, calls(1, 2, 3, 4)),
        ...[1, 2, 3, 4].map((n) => result(n, { outcome: "skipped" })),
        folded([2]),
        response(2, calls(5, 6, 7))
      ],
      "run 5"
    ],
    [
      "calls refused for being too many",
      [response(1, calls(1)), result(1, { outcome: "skipped", errorCode: "turn:max_tool_calls" })],
      "max_tool_calls"
    ],
    ["all its steps", [1, 2, 3, 4, 5].flatMap((n) => [response(n, calls(n)), result(n)]), "max_steps"],
    [
      "all its steps and an answer",
      [1, 2, 3, 4].flatMap((n) => [response(n, calls(n)), result(n)]).concat(response(5)),
      "Answered"
    ],
    ["the same step twice", [1, 2].flatMap((n) => [response(n, calls(n)), result(n, { text: "same" })]), "Guide"],
    [
      "the same step twice, and the correction",
      [
        ...[1, 2].flatMap((n) => [response(n, calls(n)), result(n, { text: "same" })]),
        { _tag: "Guidance", turnId: turn(1), text: "" }
      ],
      "AskModel"
    ],
    [
      "the same step three times",
      [1, 2, 3].flatMap((n) => [response(n, calls(n)), result(n, { text: "same" })]),
      "repeated_iteration"
    ],
    [
      "the same step twice, then a person's word, then again",
      [
        ...[1, 2].flatMap((n) => [response(n, calls(n)), result(n, { text: "same" })]),
        folded([2]),
        response(3, calls(3)),
        result(3, { text: "same" })
      ],
      "AskModel"
    ],
    ["the same failure once", [response(1, calls(1)), failure(1)], "AskModel"],
    ["the same failure twice", [response(1, calls(1, 2)), failure(1), failure(2)], "Guide"],
    [
      "the same failure twice, and the correction",
      [response(1, calls(1, 2)), failure(1), failure(2), { _tag: "Guidance", turnId: turn(1), text: "" }],
      "AskModel"
    ],
    [
      "three responses that nobody can read",
      [1, 2, 3].flatMap((n) => [
        response(n, [request(n, { arguments: `{"a": "${n}` })]),
        result(n, { outcome: "invalid", errorCode: "invalid_tool_arguments", text: `${n}` })
      ]),
      "truncated_tool_call"
    ],
    [
      "three responses whose arguments do not fit",
      [1, 2, 3].flatMap((n) => [
        response(n, [request(n, { arguments: `{"a": ${n}}` })]),
        result(n, { outcome: "invalid", errorCode: "invalid_tool_arguments", text: `${n}` })
      ]),
      "AskModel"
    ],
    ["entries of another turn", [response(1, calls(1), { turnId: turn(2) })], "AskModel"]
  ]

  for (const [name, entries, expected] of table) {
    it(`after ${name}`, () => assert.strictEqual(word(...entries), expected))
  }
})

describe("the state of a turn", () => {
  it("knows how the turn ends", () => {
    assert.isUndefined(fold([user(1), started(), response(1)]).ended)
    assert.strictEqual(fold([user(1), started(), response(1), ended("stopped")]).ended, "stopped")
  })

  it("keeps a declared format for one answer", () => {
    const html = result(1, { name: "pre_response", data: { kind: "html", disableLinkPreview: true } })
    const broken = result(2, { name: "pre_response", data: { kind: "cuneiform" } })
    const { answers, format } = fold([
      started(),
      response(1, [request(1, { name: "pre_response" })]),
      html,
      response(2, [request(2, { name: "pre_response" })]),
      broken,
      response(3),
      folded([2]),
      response(4)
    ])
    assert.deepStrictEqual(answers, [
      { text: "answer 3", format: { kind: "html", disableLinkPreview: true } },
      { text: "answer 4", format: undefined }
    ])
    assert.isUndefined(format)
  })

  it("counts the calls that reached their tool, by its own name", () => {
    const outcomes: ReadonlyArray<Parameters<typeof result>[1]> = [
      { outcome: "completed" },
      { outcome: "failed" },
      { outcome: "timeout" },
      { outcome: "cancelled" },
      { outcome: "unknown" },
      { outcome: "skipped" },
      { outcome: "denied" },
      { outcome: "invalid" },
      { outcome: "failed", errorCode: "tool:per_turn_limit" },
      { outcome: "completed", name: " look " },
      { outcome: "completed", name: "calculator" }
    ]
    const { callCounts } = fold([
      started(),
      response(1, calls(...outcomes.map((_, index) => index + 1))),
      ...outcomes.map((fields, index) => result(index + 1, fields))
    ])
    assert.deepStrictEqual(
      [...callCounts],
      [
        ["look", 6],
        ["calculate_expression", 1]
      ]
    )
  })

  it("adds up tokens", () => {
    const usage = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 1 }
    assert.deepStrictEqual(
      fold([started(), response(1, calls(1), { usage }), result(1), response(2, [], { usage })]).usage,
      {
        inputTokens: 6,
        outputTokens: 4,
        cachedInputTokens: 2,
        reasoningTokens: 0
      }
    )
  })

  it.prop(
    "is the same however the entries are handed over, and what it asks for is possible",
    { garbage: Schema.Array(Entries.Garbage).check(Schema.isMaxLength(20)) },
    ({ garbage }) => {
      const entries = garbage.map(Entries.fromGarbage)
      let state = TurnState.initial(turn(1))
      for (const entry of entries) {
        const before = state
        state = TurnState.apply(state, entry)
        // Folding is pure, and what is not of the turn does not touch it.
        assert.deepStrictEqual(TurnState.apply(before, entry), state)
        if (entry._tag === "UserMessage" || entry.turnId !== turn(1)) assert.strictEqual(state, before)
        possible(TurnState.next(state, limits), state)
      }
      assert.deepStrictEqual(fold(entries), state)
    }
  )

  it.prop(
    "leads every turn to its end, whatever the model and the tools do",
    {
      moves: Schema.Array(Entries.Garbage).check(Schema.isMinLength(40), Schema.isMaxLength(40)),
      judged: Schema.Boolean
    },
    ({ judged, moves }) => {
      const limits: TurnState.Limits = { ...bounds, judged }
      let state = fold([user(1), started()])
      let made = 0
      for (let step = 0; ; step++) {
        assert.isBelow(step, 100, "the turn goes on for ever")
        const move = moves[step % moves.length]
        const decision = TurnState.next(state, limits)
        possible(decision, state)
        if (decision._tag === "Answered" || decision._tag === "GiveUp") break
        const entries = play(decision, state, move, () => ++made)
        state = entries.reduce(TurnState.apply, state)
      }
      assert.deepStrictEqual(state.pending, [])
      assert.isAtMost(state.steps, limits.maxSteps)
      assert.isAtMost(state.toolCalls, limits.maxToolCalls)
    }
  )
})

const possible = (decision: TurnState.Next, state: TurnState.TurnState) => {
  switch (decision._tag) {
    case "AskModel":
      assert.deepStrictEqual(state.pending, [])
      assert.isBelow(state.steps, limits.maxSteps)
      break
    case "RunCall":
      assert.strictEqual(decision.call, state.pending[0])
      break
    case "RefuseCalls":
      assert.isNotEmpty(decision.calls)
      assert.deepStrictEqual(decision.calls, state.pending)
      break
    case "Answered":
    case "JudgeToolUse":
      assert.deepStrictEqual(state.pending, [])
      assert.isNotEmpty(state.answers)
      break
    case "GiveUp":
    case "Guide":
      assert.deepStrictEqual(state.pending, [])
  }
}

/** What the turn loop would journal for a decision, with the model's and the tools' part taken from the move. */
const play = (
  decision: TurnState.Next,
  state: TurnState.TurnState,
  move: typeof Entries.Garbage.Type | undefined,
  nextCall: () => number
): ReadonlyArray<Entry.Entry> => {
  switch (decision._tag) {
    case "AskModel": {
      const made = (move?.ids ?? []).map(() => request(nextCall(), { arguments: move?.arguments ?? "{}" }))
      const finishReason = move?.finishReason ?? "stop"
      return [response(state.steps + 1, made, { finishReason })]
    }
    case "RunCall": {
      const resumption = move?.kind === "TurnResumed" ? [resumed(state.lives + (move.turn - 1))] : []
      const text = move?.text.join("") ?? ""
      const data = move?.name === "look" ? { failure_signature: text } : null
      return [
        ...resumption,
        { ...result(1, { outcome: move?.outcome ?? "completed", text, data }), callId: decision.call.callId }
      ]
    }
    case "RefuseCalls":
      return decision.calls.map(({ callId }) => ({
        ...result(1, { outcome: decision.outcome, errorCode: decision.code }),
        callId
      }))
    case "Guide":
      return [{ _tag: "Guidance", turnId: turn(1), text: decision.text }]
    case "JudgeToolUse":
      return [judged(move?.outcome === "failed")]
    case "Answered":
    case "GiveUp":
      return []
  }
}
