/** `docs/rpc.md` says what the interface is: its table is compared with the RpcGroup, its examples are run. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RpcSchema from "effect/rpc/RpcSchema"
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Limits from "../../layers/rpc/Limits.ts"
import * as Payload from "../../src/rpc/Payload.ts"
import { TroupeRpcs } from "../../src/rpc/TroupeRpcs.ts"
import * as Program from "../cli/Program.ts"
import * as RawHttp from "./RawHttp.ts"

const page = readFileSync("docs/rpc.md", "utf8")

/** A schema in the words of the table. */
const words = (type: SchemaAST.AST): string => {
  const identifier = type.annotations?.["identifier"]
  switch (type._tag) {
    case "Null":
    case "Void":
    case "Undefined":
      return "nothing"
    case "Never":
      return ""
    case "Union":
      return type.types.map(words).join(" or ")
    case "Declaration":
      return type.typeParameters.map(words).join("")
    case "Objects": {
      if (type.propertySignatures.some(({ name }) => name === "_tag")) {
        const tag = type.propertySignatures.find(({ name }) => name === "_tag")?.type
        if (tag?._tag === "Literal") return `\`${tag.literal}\``
      }
      if (type.propertySignatures.length === 0) return "nothing"
      return type.propertySignatures
        .map(({ name, type: field }) => `${String(name)}${field.context?.isOptional === true ? "?" : ""}`)
        .join(", ")
    }
    case "Arrays":
      return `list of (${type.rest.map(words).join()})`
    case "Literal":
      return JSON.stringify(type.literal)
    case "String":
      return "text"
    default:
      return typeof identifier === "string" ? identifier : type._tag
  }
}

const union = (schema: Schema.Top): string => words(schema.ast)

const expected = [...TroupeRpcs.requests.values()].map((rpc) => {
  const answer: Schema.Top = rpc.successSchema
  const stream = RpcSchema.isStreamSchema(answer) ? answer : undefined
  return {
    call: `\`${rpc._tag}\``,
    payload: union(rpc.payloadSchema),
    gives: stream === undefined ? union(answer) : `stream of ${union(stream.success)}`,
    errors: union(stream === undefined ? rpc.errorSchema : stream.error)
  }
})

describe("docs/rpc.md", () => {
  it("has every call, with what it takes, gives and fails with", () => {
    const start = page.indexOf("| Call | Payload |")
    const rows = page
      .slice(start, page.indexOf("\n\n", start))
      .split("\n")
      .slice(2)
      .map((row) => row.split("|").map((cell) => cell.trim()))
    assert.deepStrictEqual(
      rows.map(([, call, payload, gives, errors]) => ({ call, payload, gives, errors })),
      expected
    )
    for (const row of rows) assert.isAbove((row[5] ?? "").length, 10, row[1])
  })

  it("has the limits and the shape of a file that comes with a message", () => {
    assert.include(page, `At most ${Limits.callsAtOnce} calls may be under way`)
    assert.include(page, `${Limits.unreadBytes / 1024 / 1024} MiB of answers unread`)
    assert.strictEqual(Duration.toMinutes(Limits.unreadFor), 5)
    assert.include(page, "after five minutes")
    const file = JSON.parse(/^\| `attachments` .*?`(\{.*?\})`/m.exec(page)?.[1] ?? "null")
    const payload = { thread: "console:main", text: "x", attachments: [file] }
    assert.isUndefined(Payload.problemOf("Send", payload))
    assert.isDefined(Payload.problemOf("Send", { ...payload, thread: "thr_01890000000000000000000000000000" }))
  })

  it.live(
    "has examples that do what it says",
    () =>
      Effect.gen(function* () {
        const at = yield* Program.place
        const daemon = yield* Program.daemon(at)
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(daemon.output())?.[0] ?? ""
        const tokenFile = join(at.data, "token")
        const token = readFileSync(tokenFile, "utf8").trim()

        const call = /^\{"_tag":"Request".*\}$/m.exec(page)?.[0].replaceAll("$TOKEN", token)
        const answer = yield* RawHttp.send(url, {
          method: "POST",
          path: "/rpc",
          headers: { authorization: `Bearer ${token}` },
          body: `${call}\n`
        })
        assert.include(page, /^\{"_tag":"Exit".*\}$/m.exec(answer.body)?.[0] ?? "no answer")

        const sample = /```sh\n([^`]*curl[^`]*)```/.exec(page)?.[1] ?? ""
        assert.include(sample, "~/.local/share/troupe/token")
        if (spawnSync("curl", ["--version"]).status === 0) {
          const here = sample.replace("~/.local/share/troupe/token", `"${tokenFile}"`).replace(/http:\/\/[\d.:]+/, url)
          const curled = spawnSync("sh", ["-c", here], { encoding: "utf8" })
          assert.include(page, /^\{"_tag":"Exit".*\}$/m.exec(curled.stdout)?.[0] ?? "curl printed no answer")
        }
        const health = yield* RawHttp.send(url, { path: "/health" })
        assert.include(page, health.body)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
