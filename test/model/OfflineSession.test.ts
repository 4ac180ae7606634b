/** The offline helper at work: real turns, the real tools and what they work on. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeDns from "@effect/platform-node/NodeDns"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Outbound from "../../layers/http/Outbound.ts"
import * as ModelsLive from "../../layers/model/Models.ts"
import * as HostProcess from "../../layers/process/HostProcess.ts"
import * as ProcessRunner from "../../layers/process/ProcessRunner.ts"
import * as FileSearch from "../../layers/search/FileSearch.ts"
import * as TestRuntime from "../../layers/testing/TestRuntime.ts"
import * as Tools from "../../layers/tools/Tools.ts"
import { ConfigSource } from "../../src/config/ConfigSource.ts"
import { Environment } from "../../src/config/Environment.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import * as FileZoo from "../rigs/FileZoo.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"

const everything = Layer.mergeAll(Tools.layer, HostProcess.layer, FileSearch.grant, Outbound.grant).pipe(
  Layer.provide(Layer.mergeAll(Outbound.layer, ProcessRunner.layer)),
  Layer.provide(
    Layer.mergeAll(
      NodeDns.layer,
      KnownSecrets.layer(),
      Environment.layerTable({ PATH: "/usr/bin:/bin" }),
      Layer.succeed(ConfigSource, { _tag: "Defaults" })
    )
  ),
  Layer.provide(NodeServices.layer)
)

/** `workspace`: where patches apply, the managed files here. */
const runtime = (port: number, workspace: string) =>
  TestRuntime.layer({
    scripts: [],
    over: ModelsLive.layer,
    tools: everything,
    settings: {
      outbound: { private_hosts: [`127.0.0.1:${port}`] },
      tools: {
        file_storage: { enabled: true, root_dir: workspace },
        grep: { enabled: true },
        apply_patch: { enabled: true, workspace_root: workspace },
        bash: { enabled: true },
        http_client: { enabled: true },
        kv_memory: { enabled: true }
      }
    }
  })

const headers = { "content-type": "text/plain" }

it.live("drives files, a command, a page and notes in one conversation", () =>
  Effect.gen(function* () {
    const server = yield* NetworkZoo.says(NetworkZoo.response(200, headers, "The page of the machine"))
    const elsewhere = yield* NetworkZoo.says(NetworkZoo.response(200, headers, "Nobody is to see this"))
    const session = Effect.gen(function* () {
      const troupe = yield* TestRuntime.TestRuntime
      const answers: Array<string> = []
      const requests = [
        "write Milk and eggs to lists/shop.txt",
        "read lists/shop.txt",
        "list files in lists",
        "search for milk in files",
        "search for Milk and in lists",
        "replace Milk and eggs with Milk and bread in lists/shop.txt",
        "search for bread in lists/shop.txt",
        "replace Milk and bread with Milk and eggs in lists/shop.txt",
        "run `cat lists/shop.txt; echo; expr 6 \\* 7`",
        "run `exit 3`",
        `fetch ${server.url("/a?b=c;d")}`,
        `fetch ${elsewhere.url()}`,
        "remember that the bin is blue",
        "what do you know about the bin?",
        "write tea to lists/tea.txt, then read lists/shop.txt"
      ]
      for (const request of requests) {
        const { answer, state } = yield* troupe.say(request)
        assert.strictEqual(state, "answered", request)
        answers.push(answer)
      }
      return answers
    })
    const { root } = yield* FileZoo.make
    const [
      wrote,
      read,
      listed,
      searchedInVain,
      searched,
      patched,
      searchedAgain,
      patchedBack,
      ran,
      failed,
      fetched,
      refused,
      remembered,
      recalled,
      both
    ] = yield* Effect.provide(session, runtime(server.port, root))
    assert.match(wrote ?? "", /^I wrote lists\/shop\.txt \(13 bytes\)\.\n/)
    assert.match(read ?? "", /Milk and eggs$/)
    assert.strictEqual(listed, "Files in lists:\n- shop.txt (13 bytes)")
    assert.strictEqual(searchedInVain, "“milk” is in no file.")
    assert.strictEqual(searched, "“Milk and” is in:\nlists/shop.txt\n1: Milk and eggs")
    assert.strictEqual(patched, "I changed lists/shop.txt.")
    assert.strictEqual(searchedAgain, "“bread” is in:\nlists/shop.txt\n1: Milk and bread")
    assert.strictEqual(patchedBack, "I changed lists/shop.txt.")
    assert.strictEqual(ran, "$ cat lists/shop.txt; echo; expr 6 \\* 7\nMilk and eggs\n42")
    assert.strictEqual(failed, "$ exit 3\nIt ended with code 3.")
    assert.strictEqual(fetched, `${server.url("/a?b=c;d")} answered 200:\nThe page of the machine`)
    assert.include(refused ?? "", "I could not fetch that")
    assert.deepStrictEqual(elsewhere.visits, [])
    assert.strictEqual(remembered, "I will remember: the bin is blue")
    assert.strictEqual(recalled, "What I know about the bin:\n- the bin is blue")
    assert.match(both ?? "", /^I wrote lists\/tea\.txt \(3 bytes\)\.\n.*Milk and eggs$/s)
  }).pipe(Effect.scoped)
)
