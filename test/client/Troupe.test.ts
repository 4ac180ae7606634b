/** The client of promises, against the real server over the whole runtime. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import { once } from "node:events"
import { globSync, readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { posix } from "node:path"
import ts from "typescript"
import type * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import { createTroupe, TroupeError } from "../../src/client/index.ts"
import type { Piece, Troupe } from "../../src/client/index.ts"
import type { StoredEntry } from "../../src/client/PlainTypes.ts"
import { Held } from "../../src/conversation/Held.ts"
import { Journal } from "../../src/conversation/Journal.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import { ThreadKey } from "../../src/thread/Threads.ts"
import * as Endpoint from "../openai/Endpoint.ts"

const against = <A>(scripts: TestRuntime.Options["scripts"], use: (troupe: Troupe, url: string) => Promise<A>) =>
  Effect.gen(function* () {
    const url = yield* Endpoint.url
    const troupe = createTroupe({ url, token: Endpoint.token, name: "tests" })
    return yield* Effect.promise(() => use(troupe, url).finally(() => troupe.close()))
  }).pipe(Effect.provide(Endpoint.layer({ scripts })))

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail("it succeeded"),
    (error: unknown) => {
      assert.instanceOf(error, TroupeError)
      assert.instanceOf(error, Error)
      return error
    }
  )

const thrown = (run: () => unknown): InstanceType<typeof TroupeError> => {
  try {
    run()
  } catch (error) {
    assert.instanceOf(error, TroupeError)
    return error
  }
  return assert.fail("it succeeded")
}

const collect = async <A>(items: AsyncIterable<A>, until: (item: A) => boolean = () => false) => {
  const all: Array<A> = []
  for await (const item of items) {
    all.push(item)
    if (until(item)) break
  }
  return all
}

const thread = "rpc:tests"

const question = { approvalId: "apr", nonce: "n" }

describe("createTroupe", () => {
  it.live("sends, and sends once what has the same id", () =>
    against(Endpoint.counting, async (troupe) => {
      const first = await troupe.send("hello", { thread, id: "m-1" })
      assert.deepInclude(first, { state: "answered", text: "answer 1", steps: 1 })
      assert.deepInclude(first.usage, { inputTokens: 10, outputTokens: 5 })
      assert.deepStrictEqual(await troupe.send("hello", { thread, id: "m-1" }), first)
      assert.strictEqual((await troupe.send("hello", { thread, id: "m-2" })).text, "answer 2")
    })
  )

  it.live("streams the text in pieces that make up the answer, and ends with it", () =>
    against(Endpoint.counting, async (troupe) => {
      const pieces = await collect(troupe.stream("hello", { thread }))
      assert.strictEqual(pieces[0]?.type, "accepted")
      const text = pieces.map((piece) => (piece.type === "text" ? piece.text : "")).join("")
      const last = pieces.at(-1)
      assert.strictEqual(text, "answer 1")
      assert.strictEqual(last?.type === "answer" ? last.answer.text : undefined, text)
    })
  )

  it.live("reads threads, history and status, and watches from an entry on", () =>
    against(Endpoint.counting, async (troupe) => {
      await troupe.send("one", { thread })
      await troupe.send("two", { thread: "rpc:other" })
      const page = await troupe.threads({ limit: 1 })
      assert.deepStrictEqual(
        page.threads.map(({ key }) => key),
        ["rpc:other"]
      )
      const rest = await troupe.threads({ limit: 1, before: page.next! })
      assert.deepStrictEqual([rest.threads[0]?.key, rest.next], [thread, null])
      const history = await troupe.history(thread)
      assert.deepStrictEqual(
        history.map(({ entry }) => entry._tag),
        ["UserMessage", "TurnStarted", "AssistantMessage", "TurnEnded"]
      )
      assert.deepStrictEqual(await troupe.history(thread, { from: 2, limit: 1 }), history.slice(1, 2))
      const seen = await collect(troupe.watch(thread, { from: 3 }), ({ type }) => type === "caught-up")
      assert.deepStrictEqual(
        seen.map((item) => (item.type === "entry" ? item.stored.seq : item.type)),
        [3, 4, "caught-up"]
      )
      assert.strictEqual((await troupe.status()).threads, 2)
    })
  )

  it.live("is told of a message that ended without a turn", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const held = yield* Held
      yield* (yield* Journal).accept({
        thread: ThreadKey.make(thread),
        channel: "rpc",
        externalId: "m-1",
        sender: {},
        source: "person",
        delivery: "now",
        text: "hello",
        attachments: [],
        agent: "main"
      })
      // As in a restored copy, of which a person wants nothing done again.
      yield* sql`UPDATE threads SET held = 1`
      yield* held.release("drop")
      const troupe = createTroupe({ url: yield* Endpoint.url, token: Endpoint.token, name: "tests" })
      const answer = yield* Effect.promise(() =>
        troupe.send("hello", { thread, id: "m-1" }).finally(() => troupe.close())
      )
      assert.deepInclude(answer, { state: "failed", turnId: null, text: "" })
      assert.strictEqual(answer.failure?.code, "storage:restored")
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [] })))
  )

  it.live("reads a long history of large messages page after page", () =>
    Effect.gen(function* () {
      const { accept } = yield* Journal
      // Each is six bytes a character where it is stored and sent.
      const texts = Array.from({ length: 8 }, (_, index) => `${index}${"\u0001".repeat(400_000)}`)
      for (const [index, text] of texts.entries()) {
        yield* accept({
          thread: ThreadKey.make(thread),
          channel: "rpc",
          externalId: String(index),
          sender: {},
          source: "person",
          delivery: "after-turn",
          text,
          attachments: [],
          agent: "main"
        })
      }
      const troupe = createTroupe({ url: yield* Endpoint.url, token: Endpoint.token, name: "tests" })
      const textsOf = (entries: ReadonlyArray<StoredEntry>) =>
        entries.map(({ entry }) => (entry._tag === "UserMessage" ? entry.text : entry._tag))
      yield* Effect.promise(async () => {
        assert.deepStrictEqual(textsOf(await troupe.history(thread)), texts)
        assert.deepStrictEqual(textsOf(await troupe.history(thread, { limit: 3 })), texts.slice(5))
        assert.deepStrictEqual(textsOf(await troupe.history(thread, { from: 2, limit: 2 })), texts.slice(1, 3))
        await troupe.close()
      })
    }).pipe(Effect.provide(Endpoint.layer({ scripts: [] })))
  )

  it.live("names an option that it does not know, and a text that says nothing", () =>
    against(Endpoint.counting, async (troupe) => {
      const misspelt: any = { thread, externalId: "1" }
      const wrong: any = { thraed: 1, from: 1 }
      const errors = await Promise.all(
        [
          troupe.send("hello", misspelt),
          collect(troupe.watch(thread, wrong), () => true),
          troupe.history(thread, wrong),
          troupe.threads(wrong),
          troupe.send(" \u200b", { thread }),
          troupe.send("hello", { thread, id: "a\nb" })
        ].map(failure)
      )
      const words = [
        "externalId: There is no such field. The fields are thread, id, attachments, delivery, signal.",
        "thraed: There is no such field.",
        "thraed: There is no such field.",
        "thraed: There is no such field.",
        "text: Expected a text that says something",
        "id: Expected an id of 1 to 200 characters"
      ]
      for (const [index, error] of errors.entries()) {
        assert.strictEqual(error.code, "invalid_request")
        assert.include(error.message, words[index] ?? "nothing")
      }
      assert.deepStrictEqual((await troupe.threads()).threads, [])
    })
  )

  it.live("says of any bad input which field it is, and sends nothing", () =>
    against(Endpoint.counting, async (troupe) => {
      const no: any = undefined
      const wrong: any = { from: "1", limit: 0, before: "x", signl: 1 }
      const cases: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
        ["thread: Expected", () => troupe.send("hello", no)],
        ["thread: Expected", () => collect(troupe.stream("hello", no))],
        ["thread: Expected", () => troupe.send("hello", { thread: no })],
        ["text: Expected", () => troupe.send(no, { thread })],
        ["delivery: Expected", () => troupe.send("hello", { thread, delivery: wrong })],
        ["from: Expected", () => collect(troupe.watch(thread, { from: 0 }))],
        ["from: Expected", () => collect(troupe.watch(thread, { from: wrong.from }))],
        ["thread: Expected", () => collect(troupe.watch(no))],
        ["from: Expected", () => troupe.history(thread, { from: 0 })],
        ["limit: Expected", () => troupe.history(thread, { limit: 0 })],
        ["limit: Expected", () => troupe.threads({ limit: 0 })],
        ["limit: Expected", () => troupe.threads({ limit: 1001 })],
        ["before: Expected", () => troupe.threads({ before: wrong.before })],
        ["thread: Expected", () => troupe.stop(no)],
        ["signl: There is no such field. Did you mean signal?", () => troupe.stop(thread, { signl: wrong } as any)],
        [
          "decision: Expected",
          () => troupe.decide(thread, { ...question, approvalId: "apr_01m8bpd2kxer0r57hgc59mnz4p" }, no)
        ],
        ["question.approvalId: Expected", () => troupe.decide(thread, question, "denied")],
        ["signl: There is no such field.", () => troupe.decide(thread, question, "denied", { signl: wrong } as any)],
        ["signl: There is no such field.", () => troupe.status({ signl: wrong } as any)],
        ["signal: Expected", () => troupe.status({ signal: wrong })],
        ["signal: Expected", () => collect(troupe.watch(thread, { signal: wrong }))],
        ["options: Expected", () => troupe.status(5 as any)],
        ["options: Expected", () => troupe.history(thread, "5" as any)]
      ]
      const errors = await Promise.all(cases.map(([, call]) => failure(call())))
      for (const [index, { code, message }] of errors.entries()) {
        const words = cases[index]?.[0] ?? "nothing"
        assert.deepStrictEqual([code, message.includes(words)], ["invalid_request", true], `${message} (${words})`)
      }
      assert.deepStrictEqual((await troupe.threads()).threads, [])
    })
  )

  it("cannot be made without an address and a token, or with an option that it does not know", () => {
    const no: any = undefined
    for (const [words, options] of [
      ["url: Expected", no],
      ["url: Expected", { token: "t" }],
      ["url: Expected an http:// or https:// address", { url: "localhost:7433", token: "t" }],
      ["token: Expected", { url: "http://127.0.0.1:1" }],
      ["name: Expected", { url: "http://127.0.0.1:1", token: "t", name: 5 }],
      ["tokn: There is no such field. Did you mean token?", { url: "http://127.0.0.1:1", tokn: "t" }]
    ] as const) {
      assert.throws(() => createTroupe(options as any), TroupeError, words)
    }
  })

  it.live("stops a turn, which is how its answer ends", () =>
    Effect.suspend(() => {
      const asked = Promise.withResolvers<void>()
      const scripts = [[ScriptedModel.run(Effect.sync(asked.resolve)), ScriptedModel.never]]
      return against(scripts, async (troupe) => {
        const answer = troupe.send("hello", { thread })
        await asked.promise
        assert.strictEqual(await troupe.stop(thread), "stopped")
        assert.strictEqual((await answer).state, "stopped")
        assert.strictEqual(await troupe.stop(thread), "idle")
      })
    })
  )

  it.live("tells calls, asks questions, and takes their answers", () =>
    Effect.gen(function* () {
      const url = yield* Endpoint.url
      const troupe = createTroupe({ url, token: Endpoint.token, name: "tests" })
      for (const [decision, outcome] of [
        ["approved", "completed"],
        ["denied", "denied"]
      ] as const) {
        const pieces = yield* Effect.promise(async () => {
          const all: Array<Piece> = []
          for await (const piece of troupe.stream("go", { thread })) {
            all.push(piece)
            if (piece.type === "question") await troupe.decide(thread, piece.question, decision)
          }
          return all
        })
        assert.deepStrictEqual(
          pieces.flatMap((piece) => (piece.type === "result" ? [[piece.tool, piece.outcome]] : [])),
          [["echo", outcome]]
        )
        assert.strictEqual(pieces.filter(({ type }) => type === "question").length, 1)
        assert.strictEqual(pieces.filter(({ type }) => type === "call").length, 1)
      }
      yield* Effect.promise(() => troupe.close())
    }).pipe(
      Effect.provide(
        Endpoint.layer({
          scripts: ({ index }) =>
            index % 2 === 0 ? [ScriptedModel.toolCall("echo", { text: "x" })] : [ScriptedModel.text("done")],
          settings: { tools: { approval: { require_approval: ["echo"] } } },
          tools: Endpoint.echo
        })
      )
    )
  )

  it.live("a failed turn is an answer that says so", () =>
    against([[ScriptedModel.cut]], async (troupe) => {
      const answer = await troupe.send("hello", { thread })
      assert.strictEqual(answer.state, "failed")
      assert.strictEqual(answer.failure?.code, "model:stream-cut")
    })
  )

  it.live("an aborted signal ends the waiting and not the turn", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      yield* against([[ScriptedModel.gate(gate), ScriptedModel.text("late")]], async (troupe) => {
        const controller = new AbortController()
        const pieces: Array<Piece> = []
        const error = await failure(
          (async () => {
            for await (const piece of troupe.stream("hello", { thread, id: "m", signal: controller.signal })) {
              pieces.push(piece)
              controller.abort()
            }
          })()
        )
        assert.strictEqual(error.code, "aborted")
        assert.strictEqual(pieces.length, 1)
        Deferred.doneUnsafe(gate, Effect.void)
        assert.strictEqual((await troupe.send("hello", { thread, id: "m" })).text, "late")
        const late = AbortSignal.abort()
        assert.strictEqual((await failure(troupe.status({ signal: late }))).code, "aborted")
      })
    })
  )

  it.live("errors have a code", () =>
    against([], async (troupe, url) => {
      const codes = [
        troupe.send("hello", { thread: "no channel" }),
        troupe.send("hello", { thread, id: "" }),
        troupe.history("rpc:nobody"),
        troupe.stop("rpc:nobody"),
        collect(troupe.watch("rpc:nobody")),
        troupe.decide(thread, question, "approved"),
        createTroupe({ url, token: "wrong" }).status(),
        createTroupe({ url: "http://127.0.0.1:1", token: "any" }).status()
      ].map((promise) => failure(promise).then(({ code }) => code))
      assert.deepStrictEqual(await Promise.all(codes), [
        "invalid_request",
        "invalid_request",
        "thread_not_found",
        "thread_not_found",
        "thread_not_found",
        "invalid_request",
        "unauthorized",
        "unreachable"
      ])
    })
  )

  it.effect("options that cannot be used are refused by name, and never shown", () =>
    Effect.sync(() => {
      for (const [options, says] of [
        [{ url: "http://u:secret@127.0.0.1:1", token: "any" }, /url.*without a name and a password/],
        [{ url: "http://127.0.0.1:1", token: "secret\nmore" }, /token.*without spaces and line breaks/],
        [{ url: "ftp://127.0.0.1", token: "any" }, /url.*http/]
      ] as const) {
        const error = thrown(() => createTroupe(options))
        assert.strictEqual(error.code, "invalid_request")
        assert.match(error.message, says)
        assert.notInclude(error.message, "secret")
      }
    })
  )

  it.live("an answer of another shape is said to be of another version", () =>
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString()))
        request.on("end", () => {
          const id = /"id":"?([^",}]+)"?/.exec(body)?.[1] ?? "0"
          response.writeHead(200, { "content-type": "application/ndjson" })
          response.end(`{"_tag":"Exit","requestId":${id},"exit":{"_tag":"Success","value":{"odd":1}}}\n`)
        })
      })
      const troupe = createTroupe({ url: await listening(server), token: "any" })
      const error = await failure(troupe.status())
      await troupe.close()
      server.close()
      assert.deepStrictEqual([error.code, /same version/.test(error.message)], ["unreachable", true])
    })
  )

  it.live("an address that redirects is told as one, and the token goes nowhere else", () =>
    Effect.promise(async () => {
      const elsewhere: Array<string> = []
      const other = createServer((request, response) => {
        elsewhere.push(request.url ?? "")
        response.end()
      })
      const target = await listening(other)
      const server = createServer((_, response) => {
        response.writeHead(307, { location: `${target}/rpc` })
        response.end()
      })
      const url = await listening(server)
      const troupe = createTroupe({ url, token: "any" })
      const error = await failure(troupe.status())
      await troupe.close()
      for (const one of [other, server]) one.close()
      assert.strictEqual(error.code, "unreachable")
      assert.match(error.message, /redirection.*307.*own address/)
      assert.deepStrictEqual(elsewhere, [])
    })
  )

  it.live("closing ends what waits", () =>
    Effect.suspend(() => {
      const asked = Promise.withResolvers<void>()
      const scripts = [[ScriptedModel.run(Effect.sync(asked.resolve)), ScriptedModel.never]]
      return against(scripts, async (troupe) => {
        const waiting = [failure(troupe.send("hello", { thread })), failure(collect(troupe.stream("more", { thread })))]
        await asked.promise
        await troupe.close()
        for (const error of await Promise.all(waiting)) assert.strictEqual(error.code, "closed")
        assert.strictEqual((await failure(troupe.status())).code, "closed")
        assert.strictEqual((await failure(collect(troupe.watch(thread)))).code, "closed")
      })
    })
  )
})

describe("its types", () => {
  it("need nothing but TypeScript", () => {
    const declarations = new Map<string, string>()
    const read = (file: string) => {
      if (declarations.has(file)) return
      const { outputText } = ts.transpileDeclaration(readFileSync(file, "utf8"), {
        fileName: file,
        compilerOptions: { module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true, strict: true }
      })
      declarations.set(file, outputText)
      for (const [, from = ""] of outputText.matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)) {
        assert.isTrue(from.startsWith("./"), `${file} names ${from}`)
        read(posix.join(posix.dirname(file), from))
      }
    }
    read("src/client/Troupe.ts")
    assert.deepStrictEqual([...declarations.keys()], ["src/client/Troupe.ts", "src/client/PlainTypes.ts"])
    assert.include(declarations.get("src/client/Troupe.ts"), "createTroupe: (options: TroupeOptions) => Troupe")
    assert.isAbove(globSync("src/client/*.ts").length, 0)
  })
})

const listening = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}
