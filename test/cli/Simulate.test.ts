/** `troupe policy simulate` over what a real daemon has recorded. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import * as FakeOpenAi from "../model/FakeOpenAi.ts"
import * as Program from "./Program.ts"

const says = FakeOpenAi.stream(
  FakeOpenAi.delta({ role: "assistant", content: "Done." }),
  FakeOpenAi.delta({}, "stop"),
  FakeOpenAi.done
)

const settings = (provider: string) => `
[llm]
provider = "fake"
model = "fake"
[providers.fake]
base_url = "${provider}"
api_key = "none"
[tools.bash]
enabled = true
[policy.rules.pushes]
decision = "deny"
commands = ["git push"]
`

describe("troupe policy simulate", () => {
  it.live(
    "says which recorded calls other rules would decide in another way, and ends with 1 when there are some",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const at = yield* Program.place
        const provider = yield* FakeOpenAi.make([
          FakeOpenAi.calls("bash", { command: "echo one" }),
          FakeOpenAi.calls("bash", { command: "echo two" }),
          FakeOpenAi.calls("bash", { command: "git push" }),
          FakeOpenAi.calls("current_datetime", {}),
          FakeOpenAi.calls("bash", { command: "curl --version" }),
          says
        ])
        yield* Program.daemon(at, settings(provider.baseUrl))
        yield* Program.run(at, ["chat", "--once", "go"])

        const same = yield* Program.run(at, ["policy", "simulate", "--since", "1h"])
        assert.deepStrictEqual(
          [same.stdout, same.code],
          ["0 of 5 calls would be decided in another way.\n", 0],
          same.stderr
        )

        const other = join(at.home, "other.toml")
        yield* files.writeFileString(
          other,
          `[policy]\ntainted = "allow"\n[policy.rules.echoes]\ndecision = "ask"\ncommands = ["echo"]\n`
        )
        const simulate = (...args: ReadonlyArray<string>) =>
          Program.run(at, ["--config", other, "--data-dir", at.data, "policy", "simulate", "--since", "1h", ...args])
        const changed = yield* simulate()
        assert.strictEqual(changed.code, 1, changed.stderr)
        assert.deepStrictEqual(changed.stdout.split("\n"), [
          "4 of 5 calls would be decided in another way.",
          "       2  bash: allow → ask  echoes",
          "          such as `bash` command=echo one",
          "       1  bash: deny → allow  [policy].default",
          "          such as `bash` command=git push",
          "       1  bash: ask → allow  [policy].default",
          "          such as `bash` command=curl --version",
          ""
        ])
        const json = JSON.parse((yield* simulate("--json")).stdout)
        assert.deepInclude(json, { calls: 5, changed: 4, undecided: 0 })
        assert.lengthOf(json.changes, 3)

        const refused = yield* Program.run(at, ["policy", "simulate", "--since", "soon"])
        assert.strictEqual(refused.code, 2)
        assert.include(refused.stderr, "7d, 12h or 30m")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
