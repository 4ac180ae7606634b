import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Message from "../../src/rpc/Message.ts"
import * as Payload from "../../src/rpc/Payload.ts"
import { TroupeRpcs } from "../../src/rpc/TroupeRpcs.ts"
import * as Inbound from "../../src/thread/Inbound.ts"

const good = { thread: "console:main", text: "hello" }

describe("the payload of a call", () => {
  const refused: ReadonlyArray<readonly [string, unknown, string]> = [
    ["Sned", null, "tag: Expected the name of a call. Did you mean Send?"],
    ["__proto__", null, "tag: Expected the name of a call."],
    [
      "Send",
      { ...good, externalid: "1" },
      "externalid: There is no such field. Did you mean externalId? The fields are"
    ],
    ["Send", { ...good, sender: { nmae: "x" } }, "sender.nmae: There is no such field. Did you mean name?"],
    ["Send", { ...good, constructor: 1 }, "constructor: There is no such field."],
    ["Status", { detail: true }, "detail: There is no such field. No field is taken here."],
    ["Threads", { limit: 5, before: { updatedAt: 1, id: "x", more: 1 } }, "before.more: There is no such field."],
    ["Release", { how: "resume", now: true }, "now: There is no such field. Did you mean how?"],
    ["Send", null, "found null."],
    ["Send", { thread: "console:main" }, "text: Expected this field; found nothing."],
    ["Send", { ...good, text: 12 }, "text: Expected string; found a number."],
    ["Send", { ...good, thread: ["console:main"] }, "thread: Expected string; found a list."],
    ["Send", { ...good, externalId: "" }, "externalId: Expected an id of 1 to 200 characters"],
    ["Send", { ...good, externalId: "\n" }, "found a text of 1 character."],
    ["Send", { ...good, externalId: "a\nb" }, "externalId: Expected an id of 1 to 200 characters"],
    ["Send", { ...good, sender: { name: "x".repeat(201) } }, "sender.name: Expected a name of 1 to 200 characters"],
    ["Send", { ...good, sender: { name: "a\u202eb" } }, "sender.name: Expected a name of 1 to 200 characters"],
    [
      "Send",
      { ...good, text: "x".repeat(1_000_001) },
      "text: Expected a text of at most 1000000 characters; found a text of"
    ],
    ["Watch", { thread: "main", from: 1 }, "thread: Expected"]
  ]
  for (const [tag, payload, words] of refused) {
    it(`${tag} is told: ${words}`, () => assert.include(Payload.problemOf(tag, payload) ?? "nothing", words))
  }

  it("a text with nothing to see in it is refused", () => {
    for (const text of [
      "",
      " ",
      "\n\t",
      "\u00a0\u3000",
      "\u200b\u200d\ufeff",
      "\u0000",
      "\u3164",
      "\u2800",
      "\u{e0020}"
    ]) {
      assert.include(
        Payload.problemOf("Send", { ...good, text }) ?? JSON.stringify(text),
        "text: Expected a text that says something"
      )
    }
    for (const text of ["x", " . ", "👩‍👩‍👧", "\u0007!", "​ま"]) {
      assert.isUndefined(Payload.problemOf("Send", { ...good, text }), JSON.stringify(text))
    }
  })

  it("nothing of what was sent is repeated but the name of an unknown field, and not all of a long one", () => {
    const secret = "sk-1234567890"
    for (const payload of [
      { ...good, text: [secret] },
      { ...good, thread: secret },
      { thread: { [secret]: secret } },
      secret,
      { ...good, sender: secret }
    ]) {
      assert.notInclude(Payload.problemOf("Send", payload) ?? assert.fail("accepted"), secret)
    }
    const problem = Payload.problemOf("Send", { ...good, ["x".repeat(100_000)]: 1 })
    assert.isBelow(problem?.length ?? Infinity, 400)
  })

  it("however deep it is, it is judged", () => {
    const deep = Message.read(
      `{"_tag":"Request","id":"1","tag":"Send","headers":[],"payload":${"[".repeat(200_000)}${"]".repeat(200_000)}}`
    )
    const payload = Schema.is(Schema.Struct({ payload: Schema.Unknown }))(deep) ? deep.payload : deep
    assert.isString(Payload.problemOf("Send", payload))
    assert.isString(Payload.problemOf("Send", { ...good, text: payload }))
  })
})

describe("every text that a call takes", () => {
  const unbounded = (ast: SchemaAST.AST, path: string, seen: ReadonlySet<SchemaAST.AST>): ReadonlyArray<string> => {
    if (seen.has(ast)) return []
    const below = new Set([...seen, ast])
    switch (ast._tag) {
      case "String":
        return isBounded(ast) ? [] : [path]
      case "Objects":
        return [
          ...ast.propertySignatures.flatMap(({ name, type }) => unbounded(type, `${path}.${String(name)}`, below)),
          ...ast.indexSignatures.map(() => `${path}.*`)
        ]
      case "Union":
        return ast.types.flatMap((type) => unbounded(type, path, below))
      case "Arrays":
        if (isBounded(ast)) return ast.rest.flatMap((type) => unbounded(type, `${path}[]`, below))
        return ast.rest.length === 0
          ? ast.elements.flatMap((type, index) => unbounded(type, `${path}[${index}]`, below))
          : [`${path}[]`]
      case "Literal":
      case "Number":
      case "Boolean":
      case "Null":
      case "Void":
        return []
      default:
        return [`${path} (${ast._tag})`]
    }
  }

  const checksOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.Check<any>> => ast.checks ?? []
  const isBounded = (ast: SchemaAST.AST): boolean =>
    checksOf(ast).some((check) => {
      const representation: any = check.annotations?.representation
      const { maxLength, source } = representation?.payload ?? {}
      return typeof maxLength === "number" || (typeof source === "string" && isFinite(source))
    })
  /** A pattern of a whole text without a repetition that has no end. */
  const isFinite = (source: string): boolean =>
    source.startsWith("^") &&
    source.endsWith("$") &&
    !/[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/g, "c"))

  for (const [tag, rpc] of TroupeRpcs.requests) {
    it(`${tag}: has a limit`, () => assert.deepStrictEqual(unbounded(rpc.payloadSchema.ast, tag, new Set()), []))
  }

  it("the law finds a text without one, wherever it is", () => {
    const schema = Schema.Struct({
      plain: Schema.String,
      inside: Schema.Array(Schema.Struct({ name: Inbound.Name })),
      either: Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^a+$/))]),
      any: Schema.Record(Schema.String, Schema.Int),
      fine: Schema.optionalKey(Inbound.ExternalId)
    })
    assert.deepStrictEqual(unbounded(schema.ast, "it", new Set()), ["it.plain", "it.inside[]", "it.either", "it.any.*"])
  })
})
