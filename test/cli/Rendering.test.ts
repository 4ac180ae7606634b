import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Answer from "../../src/cli/Answer.ts"
import * as Beginning from "../../src/cli/Beginning.ts"
import * as ChatScreen from "../../src/cli/ChatScreen.ts"
import * as ChatView from "../../src/cli/ChatView.ts"
import * as LineEditor from "../../src/cli/LineEditor.ts"
import * as Plain from "../../src/cli/Plain.ts"
import * as SlashCommand from "../../src/cli/SlashCommand.ts"
import { colours, none } from "../../src/cli/Style.ts"
import * as Transcript from "../../src/cli/Transcript.ts"
import * as Width from "../../src/cli/Width.ts"
import type { WatchItem } from "../../src/conversation/Conversations.ts"
import type { Event } from "../../src/event/Event.ts"
import { ApprovalId, CallId, MessageId, ThreadId, TurnId } from "../../src/Ids.ts"
import type { CallOutcome, Entry, StoredEntry } from "../../src/thread/Entry.ts"

const rest = "0".repeat(26)
const threadId = ThreadId.make(`thr_${rest}`)
const turnId = TurnId.make(`trn_${rest}`)
const messageId = MessageId.make(`msg_${rest}`)
const callId = CallId.make(`cal_${rest}`)
const approvalId = ApprovalId.make(`apr_${rest}`)
const answerable = {
  nonce: "n",
  requester: null,
  approvers: ["primary"],
  quorum: 1,
  approvedBy: [],
  requestedAt: 0,
  expiresAt: 1
}
const about = { threadId, turnId, channel: "console", chat: "main" }

let seq = 0
const entry = (value: Entry): WatchItem => ({ _tag: "Entry", stored: { seq: ++seq, at: 0, entry: value } })
const live = (event: Event): WatchItem => ({ _tag: "Live", event })
const delta = (text: string, kind: "text" | "reasoning" = "text", offset = 0, step = 1) =>
  live({ _tag: "ModelDelta", ...about, step, kind, offset, text })
const more = (offset: number, text: string) => delta(text, "text", offset)
const user = (text: string) =>
  entry({
    _tag: "UserMessage",
    messageId,
    channel: "console",
    sender: {},
    source: "person",
    delivery: "now",
    text,
    attachments: []
  })
const started = entry({ _tag: "TurnStarted", turnId, messageIds: [messageId], agent: "troupe" })
const assistant = (text: string, calls: ReadonlyArray<string> = [], id = callId) =>
  entry({
    _tag: "AssistantMessage",
    turnId,
    step: 1,
    text,
    reasoning: [],
    calls: calls.map((name) => ({ callId: id, name, arguments: `{"a":1}` })),
    finishReason: "stop",
    provider: "offline",
    model: "m",
    usage: { inputTokens: 3, outputTokens: 2 }
  })
const result = (outcome: "completed" | "denied") =>
  entry({ _tag: "ToolResult", turnId, callId, name: "wait", outcome, text: "", data: null, durationMillis: 1234 })
const ended = (state: "answered" | "failed" | "stopped") =>
  entry({
    _tag: "TurnEnded",
    turnId,
    state,
    ...(state === "failed" ? { failure: { code: "x:y", message: "no luck" } } : {})
  })

const play = (items: ReadonlyArray<WatchItem>) => {
  let view = ChatView.empty
  let printed = ""
  for (const item of items) {
    const [next, text] = ChatView.next(view, item, none)
    view = next
    printed += text
  }
  return { view, printed }
}

// The characters that a terminal acts on instead of showing them.
const active = /(?!\n|\t)\p{Cc}|[\u202a-\u202e\u2066-\u2069\u2028]/u

describe("Plain", () => {
  it.effect.prop("leaves nothing that a terminal acts on, and nothing else changed", [Schema.String], ([text]) =>
    Effect.sync(() => {
      assert.notMatch(Plain.lines(text), active)
      assert.notMatch(Plain.line(text), /\p{Cc}/u)
      if (!/\p{Cc}|\p{Cs}|[\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.test(text)) {
        assert.strictEqual(Plain.lines(text), text)
      }
    })
  )

  it("shows what was there", () => {
    assert.strictEqual(Plain.lines("a\u001b[31mb\r\nc\u0007\td\u009b1\u202ee"), "a␛[31mb\nc␇\td<U+009B>1<U+202E>e")
    assert.strictEqual(Plain.line("a\nb\tc"), "a␊b␉c")
    assert.strictEqual(Plain.clipped("🙂🙂🙂🙂", 3), "🙂🙂…")
  })

  it("shows text that is spelt in tag characters, and leaves flags", () => {
    const tags = (text: string) =>
      [...text].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)))
    const wales = `\u{1f3f4}${tags("gbwls").join("")}\u{e007f}`
    assert.strictEqual(Plain.line(wales), wales)
    assert.strictEqual(Plain.line(`a${tags("rm").join("")}`), "a<U+E0072><U+E006D>")
    assert.include(Plain.line(`\u{1f3f4}${tags("removeeverything").join("")}`), "<U+E0065>")
  })

  it.effect.prop(
    "JSON for programs says the same and holds nothing that a terminal acts on",
    [Schema.String],
    ([text]) =>
      Effect.sync(() => {
        const value = { [text]: `${text}\u009b\u007f\u202e\u2028\u{e0041}` }
        const line = Plain.json(value)
        assert.match(line, /^[^\n]*\n$/)
        assert.notMatch(line.trimEnd(), /\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]|\u{e0041}/u)
        assert.deepStrictEqual(JSON.parse(line), value)
      })
  )
})

describe("the view of a thread", () => {
  it("prints a line when it is whole, and the text of a step once", () => {
    const { printed, view } = play([user("hi"), started, delta("one\ntw"), more(6, "o\nthr")])
    assert.strictEqual(printed, "\n› hi\none\ntwo\n")
    assert.strictEqual(ChatView.live(view, none), "thr")
    assert.isTrue(view.turn)
    const done = play([
      user("hi"),
      started,
      delta("one\ntw"),
      more(6, "o\nthr"),
      assistant("one\ntwo\nthree"),
      ended("answered")
    ])
    assert.strictEqual(done.printed, "\n› hi\none\ntwo\nthree\n")
    assert.isFalse(done.view.turn)
  })

  it("prints a text whose pieces were lost, or came otherwise", () => {
    assert.strictEqual(play([started, assistant("all of it")]).printed, "all of it\n")
    assert.strictEqual(play([started, delta("al"), assistant("all of it\n")]).printed, "all of it\n")
    assert.strictEqual(play([started, delta("else"), assistant("all of it")]).printed, "else\nall of it\n")
  })

  const resumed = entry({ _tag: "TurnResumed", turnId, attempt: 2 })
  const again = "── cut off here; the answer begins again ──"

  it("shows an answer that was cut off and began again as two, and the second of them once", () => {
    const whole = [delta("one t"), more(5, "wo\n"), assistant("one two\n")]
    const printed = `one\none tw\n${again}\none two\n`
    const cut = [started, delta("one\none t"), more(9, "w")]
    // A daemon that was started again goes on with the turn.
    assert.strictEqual(play([...cut, resumed, ...whole]).printed, printed)
    // A request that failed in the middle, or a piece from the beginning that nothing announced.
    assert.strictEqual(play([...cut, ...whole]).printed, printed)
    assert.strictEqual(play([started, delta(" \n"), ...whole]).printed, " \none two\n")
    const thought = [started, delta("hm", "reasoning"), resumed, delta("hm so", "reasoning"), ...whole]
    assert.strictEqual(play(thought).printed, `hm\n${again}\nhm so\none two\n`)
  })

  it("leaves to the log what does not follow on what is shown", () => {
    const late = [started, delta("one "), more(9, "four"), assistant("one two, four")]
    assert.strictEqual(play(late).printed, "one two, four\n")
    assert.strictEqual(play([started, more(4, "two"), assistant("one two")]).printed, "one two\n")
    assert.strictEqual(play([started, assistant("one"), delta("one"), more(3, "!")]).printed, "one\n")
  })

  it("does not break up an answer that streams in with a message that joins the turn", () => {
    const { printed, view } = play([started, delta("one t"), user("wait"), more(5, "wo")])
    assert.strictEqual(printed, "")
    assert.strictEqual(ChatView.live(view, none), "one two\n\n› wait")
    const items = [started, delta("one\ntwo\nth"), user("wait"), user("and"), more(10, "ree\nf"), more(15, "our")]
    const said = "one\ntwo\nthree\nfour\n"
    assert.strictEqual(play([...items, assistant("one\ntwo\nthree\nfour")]).printed, `${said}\n› wait\n\n› and\n`)
    assert.strictEqual(play([...items, ended("stopped")]).printed, `${said}\n› wait\n\n› and\n[stopped]\n`)
    assert.strictEqual(play([started, assistant("one"), user("wait")]).printed, "one\n\n› wait\n")
  })

  it("keeps reasoning apart from the answer", () => {
    const { printed } = play([started, delta("hm", "reasoning"), delta("yes"), assistant("yes")])
    assert.strictEqual(printed, "hm\nyes\n")
  })

  const switched = entry({
    _tag: "ModelSwitched",
    turnId,
    step: 1,
    from: { provider: "one", model: "main" },
    to: { provider: "two", model: "org/spare\u001b[31m" },
    code: "model:provider-failed",
    message: "It is down"
  })

  it("says that another model is asked, and why, behind the thoughts of the one before", () => {
    const { printed } = play([
      started,
      delta("hm", "reasoning"),
      switched,
      delta("ah", "reasoning"),
      delta("yes"),
      assistant("yes")
    ])
    assert.strictEqual(printed, "hm\n── two/org/spare␛[31m is asked from here on: It is down ──\nah\nyes\n")
  })

  it("still says so when the thread is read later", () => {
    const stored = [switched, assistant("yes")].flatMap((item) => (item._tag === "Entry" ? [item.stored] : []))
    const [first, second] = Transcript.render(stored, none).split("\n")
    assert.match(first ?? "", /two\/org\/spare.*It is down/)
    assert.strictEqual(second, "yes")
  })

  it("shows a tool call in one line, with its one result", () => {
    const call = (phase: "started" | "completed") =>
      live({ _tag: "ToolCall", ...about, phase, callId, tool: "wait", detail: "`wait` seconds=1" })
    const running = play([started, assistant("", ["wait"]), call("started")])
    assert.strictEqual(running.printed, "")
    assert.strictEqual(ChatView.live(running.view, none), "  … wait a=1")
    const done = [started, assistant("", ["wait"]), call("started"), call("completed"), result("completed")]
    const denied = [started, assistant("", ["wait"]), result("denied")]
    for (const [items, line] of [
      [done, "  ✓ wait a=1 (1.2 s)\n"],
      [denied, "  ✗ wait a=1 denied (1.2 s)\n"]
    ] as const) {
      assert.strictEqual(play(items).printed, line)
      // It reads the same later on.
      const stored = items.flatMap((item) => (item._tag === "Entry" ? [item.stored] : []))
      assert.strictEqual(Transcript.render(stored, none), line)
    }
    // A call within another one has no entry of its own.
    assert.strictEqual(ChatView.live(play([started, call("started")]).view, none), "  … wait seconds=1")
  })

  it("asks each question once, and forgets it when it is answered or its turn is over", () => {
    const request = {
      approvalId,
      threadId,
      turnId,
      callId,
      tool: "rm\u001b[2J",
      detail: "path: \u001b]0;x",
      ...answerable
    }
    const ask = live({ _tag: "ApprovalRequested", request, channel: "console", chat: "main" })
    const { view } = play([started, ask, ask])
    assert.strictEqual(view.questions.length, 1)
    assert.notMatch(ChatView.question(request, none), active)
    const resolved = live({ _tag: "ApprovalResolved", approvalId, threadId, outcome: "expired" })
    assert.deepStrictEqual(play([started, ask, resolved]).view.questions, [])
    assert.deepStrictEqual(play([started, ask, ended("stopped")]).view.questions, [])
  })

  it("says once how a turn ended that was not answered, also when a notice says the same", () => {
    const notice = (text: string) => entry({ _tag: "Notice", turnId, text })
    const failed = [user("hi"), started, notice("I could not answer: No luck"), ended("failed")]
    const stopped = [user("hi"), started, notice("Stopped at your request."), ended("stopped")]
    assert.strictEqual(play(failed).printed, "\n› hi\n[failed: no luck]\n")
    assert.strictEqual(play(stopped).printed, "\n› hi\n[stopped]\n")
    assert.strictEqual(
      play([started, notice("Mind this."), ended("failed")]).printed,
      "Mind this.\n[failed: no luck]\n"
    )
    assert.strictEqual(play([started, notice("Mind this."), assistant("yes")]).printed, "Mind this.\nyes\n")
    for (const [items, end] of [
      [failed, "[failed: no luck]"],
      [stopped, "[stopped]"]
    ] as const) {
      const stored = items.flatMap((item) => (item._tag === "Entry" ? [item.stored] : []))
      assert.strictEqual(Transcript.render(stored, none), `1970-01-01 00:00 › hi\n${end}\n`)
    }
  })

  const compaction = (
    phase: "started" | "completed" | "failed",
    notify: "off" | "brief" | "full" = "brief",
    summary?: string
  ) =>
    live({
      _tag: "Compaction",
      ...about,
      step: 1,
      phase,
      notify,
      detail: `It is ${phase}\u001b`,
      ...(summary === undefined ? {} : { summary })
    })

  it("tells of a summary while it is made and when it is there, as far as people want to know", () => {
    const made = play([started, compaction("started")])
    assert.strictEqual(ChatView.live(made.view, none), "… It is started␛")
    const done = play([started, compaction("started"), compaction("completed")])
    assert.strictEqual(done.printed, "── It is completed␛ ──\n")
    assert.strictEqual(ChatView.live(done.view, none), "…")
    assert.strictEqual(play([started, compaction("failed")]).printed, "── It is failed␛ ──\n")
    const full = play([started, compaction("started", "full"), compaction("completed", "full", "They met.\n")])
    assert.strictEqual(full.printed, "── It is completed␛ ──\nThey met.\n")
    const off = play([started, compaction("started", "off"), compaction("completed", "off")])
    assert.deepStrictEqual([off.printed, ChatView.live(off.view, none)], ["", "…"])
    // One that a stop cut off is not being made any more.
    assert.strictEqual(ChatView.live(play([started, compaction("started"), ended("stopped")]).view, none), "")
  })

  it("shows that the model is asked again, until it says something", () => {
    const retry = live({
      _tag: "ModelRetry",
      ...about,
      step: 1,
      retry: 1,
      retries: 3,
      waitMillis: 1500,
      reason: "The model server does not answer at 127.0.0.1:9."
    })
    const words = "… The model server does not answer at 127.0.0.1:9; trying again in 2 s (1 of 3)"
    assert.strictEqual(ChatView.live(play([started, retry]).view, none), words)
    assert.strictEqual(ChatView.live(play([started, retry, delta("so")]).view, none), "so")
    assert.strictEqual(ChatView.live(play([started, retry, ended("failed")]).view, none), "")
  })

  it("says why a call has no success, and no more than once", () => {
    const call = (outcome: CallOutcome, errorCode?: string, reason?: string) =>
      Transcript.toolLine(
        "t",
        "",
        {
          outcome,
          durationMillis: 5,
          data: reason === undefined ? null : { details: { reason } },
          ...(errorCode === undefined ? {} : { errorCode })
        },
        none
      )
    const denied = "tool_approval:denied"
    assert.strictEqual(call("denied", denied), "  ✗ t denied (5 ms)")
    assert.strictEqual(call("denied", denied, "denied"), "  ✗ t denied (5 ms)")
    assert.strictEqual(call("denied", denied, "nobody-to-ask"), "  ✗ t denied, nobody to ask (5 ms)")
    assert.strictEqual(call("denied", denied, "expired"), "  ✗ t denied, no answer in time (5 ms)")
    assert.strictEqual(call("timeout", "tool:timeout"), "  ✗ t timeout (5 ms)")
    assert.strictEqual(call("cancelled", "tool:cancelled"), "  ✗ t cancelled (5 ms)")
    assert.strictEqual(call("invalid", "invalid_tool_arguments"), "  ✗ t invalid (5 ms)")
    assert.strictEqual(call("failed", "bash:exit"), "  ✗ t failed, bash:exit (5 ms)")
    assert.strictEqual(call("failed"), "  ✗ t failed (5 ms)")
  })

  it("says how a turn ended that was not answered", () => {
    assert.strictEqual(play([started, delta("so f"), ended("failed")]).printed, "so f\n[failed: no luck]\n")
    assert.strictEqual(play([started, ended("stopped")]).printed, "[stopped]\n")
  })

  it.effect.prop("prints nothing that a terminal acts on, whatever is said", [Schema.String, Schema.String], ([a, b]) =>
    Effect.sync(() => {
      const { printed, view } = play([
        user(a),
        started,
        delta(a),
        delta(b, "reasoning"),
        assistant(b, [a]),
        result("denied")
      ])
      assert.notMatch(printed + ChatView.live(view, none), active)
    })
  )
})

describe("words", () => {
  it("stay whole where a row ends, under the text of their line", () => {
    assert.deepStrictEqual(Width.wrap("one two three four", 9), ["one two", "three", "four"])
    assert.deepStrictEqual(Width.wrap("  ✓ tool with detail", 12), ["  ✓ tool", "    with", "    detail"])
    assert.deepStrictEqual(Width.wrap("/help     this is it too", 20), ["/help     this is it", "          too"])
    assert.deepStrictEqual(Width.wrap("a verylongword b", 6), ["a", "verylo", "ngword", "b"])
    assert.deepStrictEqual(Width.wrap("日本語日本", 6), ["日本語", "日本"])
    assert.deepStrictEqual(Width.wrap("keep  two\n  and four", 40), ["keep  two", "  and four"])
    const red = "\u001b[31mred words\u001b[39m"
    assert.deepStrictEqual(Width.wrap(red, 5), ["\u001b[31mred", "words\u001b[39m"])
  })

  it.effect.prop(
    "lose nothing but the blanks where a row ends, and always fit",
    [Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 60 }))],
    ([text, columns]) =>
      Effect.sync(() => {
        const plain = Plain.lines(text)
        const rows = Width.wrap(plain, columns)
        for (const row of rows) assert.isAtMost(Width.of(row), columns, JSON.stringify(row))
        assert.strictEqual(rows.join("").replaceAll(/\s/g, ""), plain.replaceAll(/\s/g, ""))
      })
  )
})

const stored = (items: ReadonlyArray<Entry>) => items.map((value, index) => ({ seq: index + 1, at: 0, entry: value }))

describe("the beginning of a stretch", () => {
  const message = (name: string): Entry => ({
    _tag: "UserMessage",
    messageId: MessageId.make(`msg_${name.repeat(26)}`),
    channel: "console",
    sender: {},
    source: "person",
    delivery: "now",
    text: name,
    attachments: []
  })
  const begin = (...names: ReadonlyArray<string>): Entry => ({
    _tag: "TurnStarted",
    turnId,
    messageIds: names.map((name) => MessageId.make(`msg_${name.repeat(26)}`)),
    agent: "troupe"
  })
  const say: Entry = { _tag: "Notice", turnId, text: "x" }
  const end: Entry = { _tag: "TurnEnded", turnId, state: "answered" }
  const firstOf = (all: ReadonlyArray<StoredEntry>, wanted: number) => Beginning.whole(all, wanted)[0]?.seq

  it("is that of a turn, with at least as much as is wanted", () => {
    const all = stored([message("1"), begin("1"), say, end, message("2"), begin("2"), say, say, end])
    assert.strictEqual(firstOf(all, 2), 5)
    assert.strictEqual(firstOf(all, 6), 1)
    assert.strictEqual(firstOf(all.slice(1), 6), 5)
    const at = (seq: number): StoredEntry => ({ seq, at: 0, entry: say })
    assert.strictEqual(Beginning.above(at(1), 9, none), "")
    assert.strictEqual(Beginning.above(at(5), 5, none), "── 4 entries above; /history 9 shows all ──\n")
    assert.strictEqual(Beginning.above(at(2), 999, none, "--limit"), "── 1 entry above; --limit 1000 shows all ──\n")
    assert.strictEqual(Beginning.above(at(3), 999, none), "── 2 entries above; /history 1000 shows more ──\n")
  })

  it("takes in what was said to it before the turn before it had ended", () => {
    const all = stored([message("1"), begin("1"), message("2"), end, begin("2"), say, end])
    assert.strictEqual(firstOf(all, 2), 1)
  })

  it("is where it was cut when it is one turn without a beginning", () => {
    const all = stored([message("1"), begin("1"), say, say, say, say])
    assert.strictEqual(firstOf(all.slice(2), 2), 5)
  })
})

describe("the rows on the screen", () => {
  const content = { view: ChatView.empty, editor: LineEditor.empty, note: "" }

  it.effect.prop(
    "fit it, with the cursor inside",
    [Schema.String, Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 120 }))],
    ([typed, streamed, columns]) =>
      Effect.sync(() => {
        const [editor] = LineEditor.press({ ...LineEditor.empty, pasting: true }, key("", typed.repeat(5)))
        const { view } = play([started, delta(streamed.repeat(9))])
        const block = ChatScreen.block({ view, editor, note: "x" }, { columns, height: 12 }, colours)
        assert.isAtMost(block.rows.length, 11)
        for (const row of block.rows) assert.isBelow(Width.of(row), columns)
        assert.isBelow(block.row, block.rows.length)
        assert.isBelow(block.column, columns)
      })
  )

  it("show a question in place of the line", () => {
    const request = { approvalId, threadId, turnId, callId, tool: "t", detail: "d", ...answerable }
    const view = ChatView.withQuestions(ChatView.empty, [request])
    const block = ChatScreen.block({ ...content, view }, { columns: 90, height: 12 }, none)
    assert.deepStrictEqual(block.rows, ["? Allow t? d  [y]es  [n]o  yes for this [t]urn, [c]onversation, [a]lways "])
  })
})

const key = (name: string, input = "", how: { ctrl?: boolean; meta?: boolean } = {}): LineEditor.Key => ({
  name,
  input,
  ctrl: how.ctrl === true,
  meta: how.meta === true,
  shift: false
})
const type = (editor: LineEditor.Editor, keys: ReadonlyArray<LineEditor.Key>) =>
  keys.reduce((state, pressed) => LineEditor.press(state, pressed)[0], editor)
const letters = (text: string) => [...text].map((letter) => key(letter, letter))
const control = (name: string) => key(name, "", { ctrl: true })

describe("LineEditor", () => {
  it("edits a line", () => {
    const line = type(LineEditor.empty, [
      ...letters("hello wurld"),
      key("left"),
      key("left"),
      key("left"),
      key("backspace"),
      ...letters("o")
    ])
    assert.strictEqual(LineEditor.textOf(line), "hello world")
    assert.strictEqual(LineEditor.textOf(type(line, [control("e"), control("w")])), "hello ")
    assert.strictEqual(LineEditor.textOf(type(line, [control("a"), ...letters("> ")])), "> hello world")
    assert.strictEqual(LineEditor.textOf(type(line, [control("u")])), "rld")
    assert.strictEqual(LineEditor.textOf(type(line, [control("k")])), "hello wo")
  })

  it("takes what a person takes for one character as one", () => {
    const family = "👨‍👩‍👧"
    const line = type(LineEditor.empty, [key("", family), key("", "e"), key("", "\u0301"), key("", "日")])
    assert.strictEqual(line.text.length, 3)
    assert.strictEqual(LineEditor.textOf(type(line, [key("backspace"), key("backspace")])), family)
    assert.strictEqual(LineEditor.layout(line, "› ", 40).column, 2 + 2 + 1 + 2)
  })

  it("does not send the lines of a paste", () => {
    const pasted = type(LineEditor.empty, [
      key("paste-start"),
      ...letters("one"),
      key("return", "\r"),
      ...letters("two"),
      key("paste-end")
    ])
    assert.strictEqual(LineEditor.textOf(pasted), "one\ntwo")
    const [next, meaning] = LineEditor.press(pasted, key("return", "\r"))
    assert.deepStrictEqual(meaning, { _tag: "Submitted", text: "one\ntwo" })
    assert.strictEqual(LineEditor.textOf(next), "")
  })

  it("takes in what comes at once as one edit, and does what it would do key by key", () => {
    const pasted = [
      key("paste-start"),
      ...letters("y".repeat(15_000)),
      key("return", "\r"),
      ...letters("n 🙂"),
      key("paste-end")
    ]
    assert.strictEqual(LineEditor.together(pasted, false).length, 3)
    assert.strictEqual(LineEditor.together(pasted.slice(1, -1), true).length, 1)
    const mixed = [...letters("ab"), key("left"), ...letters("cd"), control("a"), ...letters("e"), key("return", "\r")]
    assert.deepStrictEqual(
      LineEditor.together(mixed, false).map(({ input, name }) => [name, input]),
      [
        ["", "ab"],
        ["left", ""],
        ["", "cd"],
        ["a", ""],
        ["e", "e"],
        ["return", "\r"]
      ]
    )
    for (const keys of [mixed.slice(0, -1), pasted]) {
      const once = type(LineEditor.empty, LineEditor.together(keys, false))
      assert.deepStrictEqual(once, type(LineEditor.empty, keys))
    }
  })

  it("remembers what was sent, and what was being typed", () => {
    const sent = type(LineEditor.empty, [...letters("first"), key("return"), ...letters("second"), key("return")])
    const draft = type(sent, letters("draft"))
    assert.strictEqual(LineEditor.textOf(type(draft, [key("up")])), "second")
    assert.strictEqual(LineEditor.textOf(type(draft, [key("up"), key("up"), key("up")])), "first")
    assert.strictEqual(LineEditor.textOf(type(draft, [key("up"), key("up"), key("down"), key("down")])), "draft")
  })

  it("does not send a blank line, and tells leaving from deleting", () => {
    assert.strictEqual(LineEditor.press(type(LineEditor.empty, letters("  ")), key("return"))[1]._tag, "Edited")
    assert.strictEqual(LineEditor.press(LineEditor.empty, control("d"))[1]._tag, "Ended")
    assert.strictEqual(LineEditor.press(type(LineEditor.empty, letters("a")), control("d"))[1]._tag, "Edited")
    assert.strictEqual(LineEditor.press(LineEditor.empty, control("c"))[1]._tag, "Interrupted")
  })

  it.effect.prop(
    "keeps the cursor in the text, whatever is pressed",
    [
      Schema.Array(
        Schema.Struct({
          name: Schema.Literals([
            "left",
            "right",
            "up",
            "down",
            "home",
            "end",
            "backspace",
            "delete",
            "return",
            "paste-start",
            "paste-end",
            "a",
            "b",
            "e",
            "f",
            "k",
            "u",
            "w",
            "x"
          ]),
          input: Schema.String,
          ctrl: Schema.Boolean,
          meta: Schema.Boolean
        })
      )
    ],
    ([keys]) =>
      Effect.sync(() => {
        const line = type(
          LineEditor.empty,
          keys.map((pressed) => ({ ...pressed, shift: false }))
        )
        assert.isAtLeast(line.cursor, 0)
        assert.isAtMost(line.cursor, line.text.length)
      })
  )
})

describe("Answer", () => {
  it("is the last text of the turn that took the message up", () => {
    const items = [
      user("hi"),
      started,
      assistant("let me see", ["wait"]),
      result("completed"),
      assistant("84"),
      ended("answered")
    ]
    const answer = items.reduce(Answer.next, Answer.start(messageId))
    assert.strictEqual(answer.text, "84")
    assert.strictEqual(answer.end?.state, "answered")
    assert.deepStrictEqual(answer.usage, { inputTokens: 6, outputTokens: 4, cachedInputTokens: 0, reasoningTokens: 0 })
    assert.strictEqual(answer.steps, 2)
  })

  it("does not take another message's turn for its own", () => {
    const other = MessageId.make(`msg_${"1".repeat(26)}`)
    const items = [started, assistant("not for you"), ended("answered")]
    assert.strictEqual(items.reduce(Answer.next, Answer.start(other)).end, undefined)
    const folded = entry({ _tag: "MessagesFolded", turnId, messageIds: [other] })
    assert.strictEqual([folded, ...items.slice(1)].reduce(Answer.next, Answer.start(other)).text, "not for you")
  })
})

describe("Transcript", () => {
  it("has one line for each call, with its one result", () => {
    const entries = [
      user("hi"),
      started,
      assistant("", ["wait"]),
      result("completed"),
      assistant("done"),
      ended("answered")
    ]
    const stored = entries.flatMap((item) => (item._tag === "Entry" ? [item.stored] : []))
    assert.strictEqual(Transcript.render(stored, none), `1970-01-01 00:00 › hi\n  ✓ wait a=1 (1.2 s)\ndone\n`)
    assert.include(Transcript.render(stored.slice(0, 3), none), "… wait")
    assert.include(Transcript.render(stored.slice(3), none), "✓ wait")
  })
})

describe("SlashCommand", () => {
  it("tells commands from messages", () => {
    assert.isUndefined(SlashCommand.parse("hello /help"))
    assert.isUndefined(SlashCommand.parse("//not a command"))
    assert.deepStrictEqual(SlashCommand.parse("/thread  work "), { _tag: "Thread", name: "work" })
    assert.deepStrictEqual(SlashCommand.parse("/history 5"), { _tag: "History", limit: 5 })
    assert.strictEqual(SlashCommand.parse("/history 5000")?._tag, "Unknown")
    assert.strictEqual(SlashCommand.parse("/nonsense")?._tag, "Unknown")
    for (const name of SlashCommand.help.matchAll(/^\/(\w+)/gm)) {
      assert.notStrictEqual(SlashCommand.parse(`/${name[1]} 1`)?._tag, "Unknown")
    }
  })
})

describe("a long history", () => {
  it.effect("reads the same whatever pages it comes in, and first says what is left out above", () =>
    Effect.gen(function* () {
      const open = CallId.make(`cal_1${rest.slice(1)}`)
      const log = [user("go"), started, assistant("one moment", ["wait"]), result("completed"), assistant("done")]
      const items = [...log, ended("answered"), user("and now?"), assistant("", ["wait"], open)]
      const all = stored(items.flatMap((item) => (item._tag === "Entry" ? [item.stored.entry] : [])))
      for (const [start, above] of [
        [0, ""],
        [1, "── 1 entry above; --limit 8 shows all ──\n"],
        [2, "── 2 entries above; --limit 8 shows all ──\n"]
      ] as const) {
        const entries = all.slice(start)
        for (let size = 1; size <= entries.length; size++) {
          const pages = Stream.rechunk(Stream.fromIterable(entries), size)
          const shown = yield* Stream.runCollect(
            Transcript.history(
              Stream.mapArray(pages, (page) => [page]),
              { limit: entries.length, more: "--limit", style: none }
            )
          )
          assert.strictEqual(shown.join(""), above + Transcript.render(entries, none), `pages of ${size} from ${start}`)
        }
      }
    })
  )
})
