import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import * as Describe from "../../layers/tools/Describe.ts"
import * as Tools from "../../layers/tools/Tools.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { StartFailed } from "../../src/process/ProcessRunner.ts"
import { OutsideSandbox, SandboxUnavailable } from "../../src/process/Sandbox.ts"
import { ToolRegistry } from "../../src/tool/ToolRegistry.ts"
import { catalogue } from "../../src/tools/Catalogue.ts"
import { FilesNotTaken } from "../../src/channel/Channels.ts"
import { UnsupportedMime } from "../../src/tools/file/SelfInsertArtifact.ts"
import { FileError } from "../../src/file/FileError.ts"
import { PythonRefused } from "../../src/tools/execution/PythonRefused.ts"
import { OutboundError } from "../../src/http/Outbound.ts"
import { InvalidRequest } from "../../src/tools/http/HttpRequest.ts"
import { CalculationFailed } from "../../src/tools/utility/CalculateExpression.ts"
import { UnknownDirective } from "../../src/tools/utility/CurrentDatetime.ts"
import * as Fixtures from "../tool/Fixtures.ts"

const page = readFileSync(new URL("../../docs/tools.md", import.meta.url), "utf8")
const items = catalogue.flatMap((group) => group.items)

describe("the page about tools", () => {
  it("is what the definitions say", () => {
    assert.strictEqual(page, Describe.intoPage(page), "run `npm run docs:tools`")
    assert.include(page, Describe.reference())
    assert.strictEqual(Describe.intoPage("# Hello\n"), "# Hello\n")
  })

  it.effect("has every tool that is registered, and no other", () =>
    Effect.gen(function* () {
      const registered = (yield* (yield* ToolRegistry).all).map((tool) => tool.name).toSorted()
      assert.deepStrictEqual(items.map(({ tool }) => tool.name).toSorted(), registered)
    }).pipe(
      Effect.provide(
        Tools.layer.pipe(
          Layer.provide(Layer.succeed(ConfigSource, { _tag: "Defaults" })),
          Layer.provideMerge(Fixtures.pipeline())
        )
      )
    )
  )

  it("names every failure that tools share", () => {
    const codes = [
      ...CalculationFailed.fields.reason.literals.map((reason) => new CalculationFailed({ reason }).code),
      new UnknownDirective({ directive: "%Q" }).code,
      new FilesNotTaken({ channel: "x" }).code,
      new UnsupportedMime({ path: "x", detail: "x" }).code,
      ...FileError.fields.reason.literals.map((reason) => new FileError({ reason, path: "", detail: "" }).code),
      ...StartFailed.fields.reason.literals.map((reason) => new StartFailed({ program: "p", reason }).code),
      new SandboxUnavailable({ mode: "bwrap", reason: "r" }).code,
      new OutsideSandbox({}).code,
      ...PythonRefused.fields.reason.literals.map((reason) => new PythonRefused({ reason }).code),
      ...OutboundError.fields.reason.literals.map((reason) => new OutboundError({ reason, host: "" }).code),
      ...InvalidRequest.fields.reason.literals.map((reason) => new InvalidRequest({ reason }).code)
    ]
    const named = new Set(items.flatMap(({ failures }) => Object.keys(failures)))
    assert.includeMembers([...named], codes)
  })
})
