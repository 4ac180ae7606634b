import { assert, describe, it } from "@effect/vitest"
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Offline from "../../src/model/Offline.ts"
import * as Skills from "../../src/model/OfflineSkills.ts"
import * as Ids from "../../src/Ids.ts"
import * as TurnEntries from "../../src/turn/TurnEntries.ts"
import { ToolDenied } from "../../src/tool/ToolError.ts"
import { streamStep } from "../../src/model/ToolSchema.ts"

const allTools = Skills.skills.flatMap(({ tool }) => (tool === undefined ? [] : [tool.name]))

/** One step: the text said and the calls made. */
const step = Effect.fnUntraced(function* (prompt: Prompt.RawInput, tools: ReadonlyArray<string> = allTools) {
  const model = yield* Offline.make
  const parts = yield* Stream.runCollect(
    streamStep(model, {
      prompt,
      tools: tools.map((name) => ({ name, description: name, parameters: { type: "object" } }))
    })
  )
  return {
    parts,
    text: parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join(""),
    deltas: parts.filter((part) => part.type === "text-delta").length,
    calls: parts.flatMap((part) =>
      part.type === "tool-call" ? [{ id: part.id, name: part.name, params: part.params }] : []
    ),
    finish: parts.flatMap((part) => (part.type === "finish" ? [part.reason] : []))
  }
})

const answered: Prompt.MessageEncoded = { role: "assistant", content: "Hi." }

const user = (content: string): Prompt.MessageEncoded => ({ role: "user", content })

/** A whole turn: calls answered by `results`, in order. */
const turn = Effect.fnUntraced(function* (
  text: string,
  results: ReadonlyArray<unknown>,
  before: ReadonlyArray<Prompt.MessageEncoded> = []
) {
  const asked = yield* step([...before, user(text)])
  const prompt: ReadonlyArray<Prompt.MessageEncoded> = [
    ...before,
    user(text),
    {
      role: "assistant",
      content: asked.calls.map((call) => ({ type: "tool-call", ...call }))
    },
    {
      role: "tool",
      content: asked.calls.map((call, index) => ({
        type: "tool-result",
        id: call.id,
        name: call.name,
        isFailure: false,
        result: results[index]
      }))
    }
  ]
  return { asked, said: yield* step(prompt) }
})

const understood: ReadonlyArray<readonly [text: string, tool: string, params: unknown]> = [
  ["what is 12*(3+4)?", "calculate_expression", { expression: "12*(3+4)" }],
  ["What's 12 × (3 + 4)", "calculate_expression", { expression: "12 * (3 + 4)" }],
  ["calculate 2^10", "calculate_expression", { expression: "2**10" }],
  ["12 times 3", "calculate_expression", { expression: "12 * 3" }],
  ["12x3", "calculate_expression", { expression: "12*3" }],
  ["please compute 10 divided by 4.", "calculate_expression", { expression: "10 / 4" }],
  ["How much is 7 minus 9 ?", "calculate_expression", { expression: "7 - 9" }],
  ["2 to the power of 8", "calculate_expression", { expression: "2 ** 8" }],
  ["5 squared", "calculate_expression", { expression: "5 **2" }],
  ["-3 + 2 =", "calculate_expression", { expression: "-3 + 2" }],
  ["calculate sqrt(16)", "calculate_expression", { expression: "sqrt(16)" }],
  ["What time is it?", "current_datetime", {}],
  ["date", "current_datetime", {}],
  ["what is today’s date", "current_datetime", {}],
  ["what is the date and time?", "current_datetime", {}],
  ["wait 2 seconds", "wait", { milliseconds: 2000 }],
  ["Wait for 500ms!", "wait", { milliseconds: 500 }],
  ["sleep 1.5 s", "wait", { milliseconds: 1500 }],
  ["wait a minute", "wait", { milliseconds: 60000 }],
  [
    "Please remember that Ada's PIN is 1234, and the bin is blue.",
    "memory_create",
    {
      title: "Ada's PIN is 1234, and the bin is blue",
      data: "Ada's PIN is 1234, and the bin is blue",
      category: "other",
      source: "user"
    }
  ],
  ["What do you know about my PIN?", "memory_search", { query: "pin", limit: 5 }],
  ["what did I tell you about Ada", "memory_search", { query: "ada", limit: 5 }],
  ["what do you remember?", "memory_search", { limit: 5 }],
  ["write hello to notes.txt", "write_file", { path: "notes.txt", content: "hello" }],
  ["Please write Milk and eggs to Lists/Shop.txt.", "write_file", { path: "Lists/Shop.txt", content: "Milk and eggs" }],
  ['save "a to b; then c" in "my notes.txt"', "write_file", { path: "my notes.txt", content: "a to b; then c" }],
  ["overwrite notes.txt with Bye", "write_file", { path: "notes.txt", content: "Bye", overwrite: true }],
  ["read notes.txt", "read_file", { path: "notes.txt" }],
  ["Could you show me the file Makefile?", "read_file", { path: "Makefile" }],
  ["list files", "list_files", {}],
  ["what files are there?", "list_files", {}],
  ["show my files in Lists/old", "list_files", { folder: "Lists/old" }],
  ["search for Blue bin in files", "grep", { pattern: "Blue bin", fixed_string: true }],
  ["search for milk in my files", "grep", { pattern: "milk", fixed_string: true }],
  ['grep "a in b" in lists/', "grep", { pattern: "a in b", fixed_string: true, path: "lists/" }],
  [
    "replace Two eggs with six eggs in notes.txt",
    "apply_patch",
    {
      patch_text: "*** Begin Patch\n*** Update File: notes.txt\n@@\n-Two eggs\n+six eggs\n*** End Patch"
    }
  ],
  ["run `ls -l; echo A and B`", "bash", { command: "ls -l; echo A and B" }],
  ["find files like *.txt", "glob_files", { pattern: "*.txt" }],
  ['Find all files named "**/My list.*" in Lists/old', "glob_files", { pattern: "**/My list.*", folder: "Lists/old" }],
  ["run python `print('A and B; C')`", "python_execute", { code: "print('A and B; C')" }],
  ["transcribe Voice/Memo.ogg", "transcribe_audio", { path: "Voice/Memo.ogg" }],
  ['transcribe the recording "my memo.wav"', "transcribe_audio", { path: "my memo.wav" }],
  ["send me a GIF of a Happy cat", "send_gif", { query: "a Happy cat" }],
  ["run ls -l /tmp", "bash", { command: "ls -l /tmp" }],
  ["execute the command pwd", "bash", { command: "pwd" }],
  ["run the command: echo hello", "bash", { command: "echo hello" }],
  ["run: ls", "bash", { command: "ls" }],
  ["fetch http://127.0.0.1:8080/A?b=C&d=1,2", "http_request", { url: "http://127.0.0.1:8080/A?b=C&d=1,2" }],
  ["open https://example.org/a.html.", "http_request", { url: "https://example.org/a.html" }]
]

describe("the offline helper and files", () => {
  const before = [user("hello"), answered]

  it.effect("does not take a note about undone changes for a request", () =>
    Effect.gen(function* () {
      const turnId = yield* Ids.makeTurnId
      const note = TurnEntries.restoredNote({ _tag: "FilesRestored", turnId, restored: ["notes.txt"], left: [] })
      const { said } = yield* turn("what is 12*(3+4)?", [{ result: "84" }], [user("hello"), answered, user(note)])
      assert.strictEqual(said.text, "12*(3+4) = 84")
    })
  )

  it.effect("takes several requests apart, but not what is in quotes, in backticks or in an address", () =>
    Effect.gen(function* () {
      const { calls } = yield* step(
        'write a to b.txt and write "c and d" to e.txt, then read b.txt; run `x; y and z`, fetch http://h.test/a?b;c and list files'
      )
      assert.deepStrictEqual(
        calls.map(({ params }) => params),
        [
          { path: "b.txt", content: "a" },
          { path: "e.txt", content: "c and d" },
          { path: "b.txt" },
          { command: "x; y and z" },
          { url: "http://h.test/a?b;c" },
          {}
        ]
      )
      const quoted = yield* step('write "a" to b.txt and write "c" to d.txt')
      assert.deepStrictEqual(
        quoted.calls.map(({ params }) => params),
        [
          { path: "b.txt", content: "a" },
          { path: "d.txt", content: "c" }
        ]
      )
    })
  )

  for (const [text, result, words] of [
    ["write hello to a.txt", { ok: true, bytes_written: 5, change: "created" }, "I wrote a.txt (5 bytes)."],
    ["write hello to a.txt", { ok: true, change: "unchanged" }, "a.txt has this content already."],
    ["read a.txt", "a.txt (5 bytes)\n\nhello\n", "a.txt (5 bytes)\n\nhello"],
    ["list files", { entries: [], total: 0 }, "There are no files."],
    [
      "list files in x",
      {
        entries: [
          { name: "a.txt", is_dir: false, size_bytes: 5 },
          { name: "b", is_dir: true, size_bytes: 0 }
        ],
        total: 5
      },
      "Files in x:\n- a.txt (5 bytes)\n- b/\nand 3 more"
    ],
    ["run `ls`", { ok: true, exit_code: 0, stdout: "a\nb\n", stderr: "" }, "$ ls\na\nb"],
    ["run `true`", { ok: true, exit_code: 0, stdout: "", stderr: "" }, "$ true\nIt said nothing."],
    ["run python `1`", { ok: true, exit_code: 0, stdout: "", stderr: "" }, "It said nothing."],
    [
      "run python `x`",
      { ok: false, exit_code: 1, stdout: "", stderr: "NameError" },
      "NameError\nIt ended with code 1."
    ],
    ["find files like *.md", { entries: [{ path: "a/b.md" }], count: 1 }, "Like *.md:\n- a/b.md"],
    ["find files like *.md", { entries: [], count: 0 }, "No file is like *.md."],
    ["transcribe a.ogg", { ok: true, text: "Good morning." }, "Good morning."],
    ["transcribe a.ogg", { ok: true, text: "" }, "Nothing is said in a.ogg."],
    [
      "send a gif of cats",
      { ok: true, sent_as: "file", title: "Cats", url: "https://g.test/c" },
      "I sent a GIF: Cats."
    ],
    ["send a gif of cats", { ok: true, sent_as: "none", title: "", url: "https://g.test/c" }, "cats: https://g.test/c"],
    ["fetch http://h.test/", { status: 404, body: "none" }, "http://h.test/ answered 404:\nnone"],
    ["replace a with b in c.txt", { ok: true, summary: "Success" }, "I changed c.txt."],
    [
      "search for milk in files",
      "2 lines match, 7 files searched.\n\na.txt\n3:   milk\n\nb.txt\n1: milk",
      "“milk” is in:\na.txt\n3:   milk\nb.txt\n1: milk"
    ],
    ["search for milk in files", "0 lines match, 7 files searched.", "“milk” is in no file."],
    [
      "read a.txt",
      { ok: false, error_code: "file:file_not_found", error: '"a.txt": There is no file of this name.' },
      'I could not read that: "a.txt": There is no file of this name.'
    ]
  ] as const) {
    it.effect(`answers “${text}” with ${JSON.stringify(words)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* turn(text, [result], before)).said.text, words)
      })
    )
  }

  it.effect("tells what a command that failed said, and with which code", () =>
    Effect.gen(function* () {
      const result = { ok: false, exit_code: 2, stdout: "", stderr: "no such file" }
      const { said } = yield* turn("run `ls x`", [result], before)
      assert.strictEqual(said.text, "$ ls x\nno such file\nIt ended with code 2.")
    })
  )
})

describe("the offline helper and notes", () => {
  it.effect("says what was found, and that nothing was", () =>
    Effect.gen(function* () {
      const entries = [
        { title: "Ada likes tea", data: "Ada likes tea" },
        { title: "Bin", data: "blue,\nFridays" }
      ]
      const before = [user("hello"), answered]
      const found = yield* turn("what do you know about Ada?", [{ entries, total: 2 }], before)
      assert.strictEqual(found.said.text, "What I know about ada:\n- Ada likes tea\n- Bin: blue, Fridays")
      const none = yield* turn("what do you know about Ada?", [{ entries: [], total: 0 }], before)
      assert.strictEqual(none.said.text, "I know nothing about ada.")
      const kept = yield* turn("remember that Ada likes tea", [{ created: true }], before)
      assert.strictEqual(kept.said.text, "I will remember: Ada likes tea")
    })
  )
})

describe("Offline", () => {
  for (const [text, name, params] of understood) {
    it.effect(`understands “${text}”`, () =>
      Effect.gen(function* () {
        const { calls, finish } = yield* step(text)
        assert.deepStrictEqual(
          calls.map((call) => [call.name, call.params]),
          [[name, params]]
        )
        assert.deepStrictEqual(finish, ["tool-calls"])
      })
    )
  }

  for (const skill of Skills.skills) {
    for (const example of skill.examples) {
      it.effect(`understands its own example “${example}”`, () =>
        Effect.gen(function* () {
          const { calls, text } = yield* step(example)
          if (skill.tool === undefined) assert.include(text, Skills.label)
          else
            assert.deepStrictEqual(
              calls.map((call) => call.name),
              [skill.tool.name]
            )
        })
      )
    }
  }

  it.effect("says what it is on first contact, and only then", () =>
    Effect.gen(function* () {
      const first = yield* turn("what is 12*(3+4)?", [{ ok: true, result: "84" }])
      assert.match(first.said.text, /^12\*\(3\+4\) = 84\n/)
      assert.include(first.said.text, "not a language model")
      const later = yield* turn(
        "what is 1+1?",
        [{ result: "2" }],
        [user("hello"), { role: "assistant", content: "Hi." }]
      )
      assert.strictEqual(later.said.text, "1+1 = 2")
      assert.isAbove(later.said.deltas, 2)
      assert.deepStrictEqual(later.said.finish, ["stop"])
    })
  )

  for (const [form, result] of [
    ["an object", { result: "84" }],
    ["JSON text", '{"ok":true,"result":"84"}'],
    ["a status, text and data", { status: "success", text: "84", data: { result: "84" } }],
    ["a status and JSON text", { status: "success", text: '{"result":"84"}', data: null }],
    ["plain text", "84"]
  ] as const) {
    it.effect(`reads a tool result given as ${form}`, () =>
      Effect.gen(function* () {
        const { said } = yield* turn("what is 12*7?", [result])
        assert.match(said.text, /^12\*7 = 84\n/)
      })
    )
  }

  it.effect("asks for two things at once when two are asked, and answers both", () =>
    Effect.gen(function* () {
      const { asked, said } = yield* turn("what is 2+2 and what time is it?", [
        { result: "4" },
        { timestamp: "2026-01-02T03:04:05Z" }
      ])
      assert.deepStrictEqual(
        asked.calls.map((call) => call.name),
        ["calculate_expression", "current_datetime"]
      )
      assert.notStrictEqual(asked.calls[0]?.id, asked.calls[1]?.id)
      assert.match(said.text, /^2\+2 = 4\nIt is 2026-01-02T03:04:05Z\n/)
    })
  )

  it.effect("calculates one thing and the other, too", () =>
    Effect.gen(function* () {
      const { calls } = yield* step("calculate 2+2 and what time is it; calculate 3*3, then wait 1 second")
      assert.deepStrictEqual(
        calls.map((call) => call.name),
        ["calculate_expression", "current_datetime", "calculate_expression", "wait"]
      )
    })
  )

  it.effect("words errors and refusals plainly", () =>
    Effect.gen(function* () {
      const { said } = yield* turn("what is 1/0?", [{ status: "error", text: "division by zero", data: null }])
      assert.match(said.text, /^I could not calculate that: division by zero/)
      const asText = yield* turn("what is 1/0?", [
        JSON.stringify({ ok: false, tool: "calculate_expression", error_code: "x", error: "It divides by zero." })
      ])
      assert.match(asText.said.text, /^I could not calculate that\. It divides by zero\./)
      const denied = yield* turn("wait 1 second", [{ ok: false, error: "The user did not allow it" }])
      assert.match(denied.said.text, /^I could not wait\. The user did not allow it/)
    })
  )

  for (const [reason, words] of [
    ["denied", "I could not calculate that: it was not allowed."],
    ["expired", "I could not calculate that: nobody allowed it in time."],
    [
      "nobody-to-ask",
      "I could not calculate that: it needs a person's yes, and nobody can be asked here. `troupe chat` asks."
    ],
    ["cancelled", "I could not calculate that: the question whether it may was withdrawn."]
  ] as const) {
    it.effect(`says that a call was not allowed (${reason}), and nothing that was meant for a model`, () =>
      Effect.gen(function* () {
        const error = new ToolDenied({ tool: "calculate_expression", reason })
        const read = { ok: false, error_code: error.code, error: error.message, details: { reason } }
        const { said } = yield* turn("what is 1+1?", [JSON.stringify(read)], [user("hello"), answered])
        assert.strictEqual(said.text, words)
      })
    )
  }

  it.effect("says how much of a long wait was allowed", () =>
    Effect.gen(function* () {
      const results = [{ slept_ms: 30000, requested_ms: 40000 }]
      const { said } = yield* turn("wait 40 seconds", results, [user("hello"), answered])
      assert.strictEqual(said.text, "I waited 30000 ms, the longest that [tools.wait].max_milliseconds allows.")
    })
  )

  it.effect("says of what it can do what is turned off, and promises nothing of it elsewhere", () =>
    Effect.gen(function* () {
      const lineOf = (text: string, start: string) => text.split("\n").find((line) => line.startsWith(start)) ?? ""
      const some = ["calculate_expression"]
      const { text } = yield* step("what can you do?", some)
      assert.include(lineOf(text, "- wait"), "(off: [tools.wait].enabled turns it on)")
      assert.notInclude(lineOf(text, "- calculate"), "off")
      assert.notInclude((yield* step("what can you do?")).text, "(off")
      const lost = yield* step("wie geht es", some)
      assert.notInclude(lost.text, "wait")
      assert.include(lost.text, "I can calculate with numbers; ask")
      assert.include((yield* step("wie geht es", [])).text, "ask “what can you do?”")
    })
  )

  it.effect("names the setting when the tool is not on offer", () =>
    Effect.gen(function* () {
      const { calls, text } = yield* step("wait 1 second", ["calculate_expression"])
      assert.deepStrictEqual(calls, [])
      assert.include(text, "[tools.wait].enabled")
    })
  )

  it.effect("takes up a message that came between tool calls", () =>
    Effect.gen(function* () {
      const call = { type: "tool-call", id: "a", name: "wait", params: { milliseconds: 1000 } } as const
      const history: ReadonlyArray<Prompt.MessageEncoded> = [
        user("wait 1 second"),
        { role: "assistant", content: [call] },
        {
          role: "tool",
          content: [{ type: "tool-result", id: "a", name: "wait", isFailure: false, result: { slept_ms: 1000 } }]
        },
        user("what is 1+1?")
      ]
      const folded = yield* step(history)
      assert.deepStrictEqual(
        folded.calls.map((made) => made.params),
        [{ expression: "1+1" }]
      )
      const [made] = folded.calls
      const answered = yield* step([
        ...history,
        { role: "assistant", content: folded.calls.map((part) => ({ type: "tool-call", ...part })) },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              id: made?.id ?? "",
              name: "calculate_expression",
              isFailure: false,
              result: { result: "2" }
            }
          ]
        }
      ])
      assert.match(answered.text, /^I waited 1000 ms\.\n1\+1 = 2\n/)
    })
  )

  for (const text of [
    "write me a poem",
    "42",
    "what is love",
    "wait for godot",
    "2 2",
    "and and and",
    "x",
    "= =",
    "read my mind",
    "show me",
    "run",
    "list friends",
    "write to me",
    "get http://"
  ]) {
    it.effect(`says what it can do when told “${text}”`, () =>
      Effect.gen(function* () {
        const { calls, text: said } = yield* step(text)
        assert.deepStrictEqual(calls, [])
        assert.match(said, /do not understand|offline helper/)
        assert.include(said, "what can you do?")
      })
    )
  }

  it.effect("answers the part it understands and owns up to the rest", () =>
    Effect.gen(function* () {
      const { said } = yield* turn("sing a song and what is 1+1", [{ result: "2" }])
      assert.match(said.text, /^1\+1 = 2\nI did not understand “sing a song”\./)
    })
  )

  for (const [name, text] of [
    ["a megabyte of digits and operators", "what is " + "1+".repeat(500_000) + "1"],
    ["a megabyte of spaces", " ".repeat(1_000_000) + "help"],
    ["a megabyte of question marks", "?".repeat(1_000_000) + "x"],
    ["a hundred thousand requests", "what is 1+1 and ".repeat(100_000)],
    ["half a surrogate pair", "what is \ud83d + 1"],
    ["control characters", "what\0 is 1+1"]
  ] as const) {
    it.effect(`survives ${name}`, () =>
      Effect.gen(function* () {
        const { calls, finish, parts } = yield* step(text)
        assert.isAtMost(calls.length, Offline.mostRequests)
        assert.strictEqual(finish.length, 1)
        assert.isTrue(JSON.stringify(parts).length < 20_000)
      })
    )
  }

  it.effect.prop(
    "always answers, well-formed, with calls only to tools on offer",
    { text: Schema.String },
    ({ text }) =>
      Effect.gen(function* () {
        const { calls, finish, text: said } = yield* step(text, ["calculate_expression"])
        assert.strictEqual(finish.length, 1)
        assert.isTrue(said.isWellFormed())
        assert.isTrue(calls.every((call) => call.name === "calculate_expression"))
        assert.isTrue(calls.length > 0 || said !== "")
      })
  )

  it("renders the table of skills for the documents", () => {
    for (const skill of Skills.skills) assert.include(Skills.markdown(), `| ${skill.summary} |`)
  })
})
