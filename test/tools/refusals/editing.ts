import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { FileError } from "../../../src/file/FileError.ts"
import type { Reason } from "../../../src/file/FileError.ts"
import type { Reading, Writing } from "../../../src/file/Workspace.ts"
import { FsPatch } from "../../../src/patch/PatchFiles.ts"
import { Grants } from "../../../src/tool/Capability.ts"
import type { TurnTools } from "../../../src/tool/ToolCalls.ts"
import * as MemoryFiles from "../../file/MemoryFiles.ts"
import { bytes, patch } from "../../patch/Helpers.ts"
import * as Fixtures from "../../tool/Fixtures.ts"
import * as Refusals from "./Refusals.ts"

const tools = (grants: Layer.Layer<never, never, Grants>) =>
  Refusals.tools(
    { tools: { apply_patch: { enabled: true }, file_storage: { enabled: true, max_write_bytes: 1_000_000 } } },
    grants
  )

interface Part {
  readonly reading?: Partial<Reading>
  readonly writing?: Partial<Writing<never>>
}

/** Files that do one thing or other in another way. */
const otherwise = ({ reading, writing }: Part) =>
  tools(
    Layer.effectDiscard(
      Effect.gen(function* () {
        const files = MemoryFiles.make()
        const own = { reading: { ...files.reading, ...reading }, writing: { ...files.writing, ...writing } }
        yield* (yield* Grants).register(FsPatch, () => Effect.succeed(own))
      })
    )
  )

const fails = (reason: Reason) => () => Effect.fail(new FileError({ reason, path: "f", detail: "It is refused." }))

const reads = (content: Uint8Array, absolute: string) => () =>
  Effect.succeed({
    info: {
      place: { relative: "f", absolute },
      name: "f",
      kind: "file" as const,
      bytes: 1,
      modifiedAt: 0,
      mode: 0o600
    },
    bytes: content,
    truncated: false
  })

const put =
  (...files: ReadonlyArray<readonly [path: string, content: string]>) =>
  (turn: TurnTools) =>
    Effect.forEach(files, ([path, content]) => Fixtures.callTool(turn, "write_file", { path, content }))

const refused = (reason: string, text: string, more: Pick<Refusals.Refusal, "after" | "layer"> = {}) => ({
  tool: "apply_patch",
  code: `apply_patch:${reason}`,
  arguments: { patch_text: text },
  ...more
})

const update = (...lines: ReadonlyArray<string>) => patch("*** Update File: f", ...lines)
const two = patch("*** Add File: f", "+a", "*** Add File: g", "+b")
const slow = [...Array.from({ length: 20_000 }, () => ["-a", "-b"]).flat(), "-a", "-a"]

const ofFiles: ReadonlyArray<Reason> = [
  "path_is_not_a_file",
  "path_is_not_a_folder",
  "invalid_path",
  "outside_root",
  "dangling_link",
  "too_many_links",
  "special_file",
  "permission_denied",
  "system"
]

const memory: MemoryFiles.Files = MemoryFiles.make()

export const group: Refusals.Group = {
  layer: tools(MemoryFiles.grants),
  refusals: [
    refused("empty_patch", patch()),
    refused("patch_too_large", "+".repeat(262_145)),
    refused("invalid_patch", "hello"),
    refused("too_many_files", patch(...Array.from({ length: 201 }, (_, at) => `*** Delete File: ${at}`))),
    refused("file_not_found", patch("*** Delete File: f")),
    refused("file_too_large", update("@@", "-a"), { after: put(["f", "\n".repeat(200_001)]) }),
    refused("not_text", update("@@", "-a"), {
      layer: otherwise({ reading: { read: reads(Uint8Array.of(0xff, 0, 0), "/f") } })
    }),
    refused("is_link", patch("*** Delete File: f"), {
      layer: otherwise({
        reading: { info: () => memory.reading.info("."), read: reads(bytes("a\n"), "/elsewhere/f") }
      })
    }),
    refused("empty_content", patch("*** Add File: f"), { after: put(["f", "a"]) }),
    refused("target_exists", update("*** Move to: g"), { after: put(["f", "a"], ["g", "b"]) }),
    refused("hunk_not_found", update("@@", "-b"), { after: put(["f", "a\n"]) }),
    refused("ambiguous_hunk", update("@@", "-a"), { after: put(["f", "a\na\n"]) }),
    refused("too_complex", update("@@", ...slow), { after: put(["f", "a\nb\n".repeat(50_000)]) }),
    refused("no_change", update("@@", " a"), { after: put(["f", "a\n"]) }),
    refused("write_failed", two, { layer: otherwise({ writing: { write: fails("no_space") } }) }),
    refused("not_restored", two, {
      layer: otherwise({
        writing: {
          write: (path, ...given) => (path === "g" ? fails("no_space")() : memory.writing.write(path, ...given)),
          remove: fails("permission_denied")
        }
      })
    }),
    refused("out_of_time", two, {
      layer: otherwise({ reading: { read: () => Effect.andThen(TestClock.adjust("61 seconds"), Effect.never) } })
    }),
    ...ofFiles.map((reason) => ({
      tool: "apply_patch",
      code: `file:${reason}`,
      arguments: { patch_text: two },
      layer: otherwise({ reading: { read: fails(reason) } })
    }))
  ]
}
