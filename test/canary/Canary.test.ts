/**
 * Canaries: secrets that agents use and never see. A whole daemon with a vault runs a turn that makes requests and runs programs
 * with them, against servers and programs that tell them in every form; then everything that came out of the daemon is searched.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import * as VaultFile from "../../layers/vault/VaultFile.ts"
import * as Program from "../cli/Program.ts"
import * as FakeOpenAi from "../model/FakeOpenAi.ts"
import * as Needs from "../rigs/Needs.ts"
import * as NetworkZoo from "../rigs/NetworkZoo.ts"

const canaries = {
  door: 'zq+Door/0123456789"\\never seen',
  provider: "zq-provider-key-9876543210-never-seen",
  collector: "zq-collector-key-1357924680-never-seen"
}

const password = "correct horse battery staple"

const settings = (at: { readonly provider: string; readonly host: string; readonly collector: string }) => `
[vault]
enabled = true
[vault.use.door]
hosts = ["${at.host}"]
allow_http = true
env = "DOOR_KEY"
[llm]
provider = "fake"
model = "fake"
retry_attempts = 1
[providers.fake]
base_url = "${at.provider}"
api_key = "\${secret:provider}"
[policy]
tainted = "allow"
[outbound]
allow_private = true
[tools.http_client]
enabled = true
follow_redirects = true
[tools.bash]
enabled = true
spill_to_managed_file = true
spill_after_chars = 3000
[tools.file_storage]
enabled = true
[logging]
log_level = "trace"
[observability]
otlp_endpoint = "${at.collector}"
otlp_interval_seconds = 1
otlp_headers = { x-key = "\${secret:collector}" }
`

/** Says every form of the variable: as it is, in pieces, encoded, as an error, and so often that it goes to a file. */
const telling = [
  'echo "length ${#DOOR_KEY}"',
  'echo "$DOOR_KEY"; echo "$DOOR_KEY" >&2',
  'printf %s "${DOOR_KEY:0:9}"; sleep 0.3; printf "%s\\n" "${DOOR_KEY:9}"',
  'printf %s "user:$DOOR_KEY" | base64 -w0; echo; printf %s "$DOOR_KEY" | od -An -v -tx1 | tr -d " \\n"; echo'
].join("; ")

/** What gives a canary away, in whatever form: the middle of each form, since its ends depend on what stands beside it. */
const tracesOf = (secret: string): ReadonlyArray<string> => {
  const base64 = ["", "x", "xy"].map((before) => Buffer.from(`${before}${secret}`).toString("base64").slice(8, 20))
  const middle = secret.slice(3, 14)
  return [
    middle,
    JSON.stringify(secret).slice(4, 26),
    encodeURIComponent(secret).slice(3, 20),
    Buffer.from(middle).toString("hex"),
    Buffer.from(middle).toString("hex").toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))
  ]
}

const leaksIn = (what: string, text: string): ReadonlyArray<string> =>
  Object.entries(canaries).flatMap(([name, secret]) => {
    const at = Math.max(...tracesOf(secret).map((trace) => text.indexOf(trace)))
    return at === -1 ? [] : [`${what} tells ${name}: …${text.slice(Math.max(0, at - 40), at + 40)}…`]
  })

interface Mutation {
  /** The end of a module's path. */
  readonly file: string
  /** What stands there once, and what it becomes. */
  readonly from: string
  readonly to: string
}

const mutationOf = (mutation: Mutation | undefined): Readonly<Record<string, string>> =>
  mutation === undefined
    ? {}
    : {
        NODE_OPTIONS: `--import ${new URL("fixtures/Mutation.ts", import.meta.url).href}`,
        CANARY_MUTATION: JSON.stringify(mutation)
      }

/** One session of a daemon, and everything that came out of it. */
const session = Effect.fnUntraced(function* (mutation?: Mutation) {
  const files = yield* FileSystem.FileSystem
  const elsewhere = yield* NetworkZoo.says(NetworkZoo.response(200, {}, "elsewhere"))
  const elsewhereUrl = elsewhere.url("/landed").replace("127.0.0.1", "localhost")
  const host = yield* NetworkZoo.keep(({ head, path, socket }) => {
    if (path === "/away") return void socket.end(NetworkZoo.response(302, { location: elsewhereUrl }))
    const base64 = Buffer.from(head).toString("base64")
    socket.end(NetworkZoo.response(401, { "x-echo": canaries.door }, `you sent:\n${head}\n${base64}`))
  })
  const collected: Array<string> = []
  const collector = yield* NetworkZoo.keep(({ head, rest, socket }) => {
    collected.push(rest)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    let left = length - rest.length
    const answer = () => socket.end(NetworkZoo.response(200, { "content-type": "application/json" }, "{}"))
    if (left <= 0) return void answer()
    socket.on("data", (piece) => {
      collected.push(piece.toString("latin1"))
      left -= piece.length
      if (left <= 0) answer()
    })
  })
  const key = canaries.provider
  const provider = yield* FakeOpenAi.make([
    FakeOpenAi.calls("http_request", { url: host.url("/echo"), secrets: ["door"] }),
    FakeOpenAi.calls("http_request", { url: host.url("/away"), secrets: ["door"] }),
    FakeOpenAi.calls("http_request", { url: elsewhereUrl, secrets: ["door"] }),
    FakeOpenAi.calls("bash", { command: telling, secrets: ["door"] }),
    FakeOpenAi.calls("bash", { command: 'for i in $(seq 300); do echo "$i $DOOR_KEY"; done', secrets: ["door"] }),
    FakeOpenAi.calls("bash", { command: "env; exit 3" }),
    FakeOpenAi.calls("bash", { command: "true", secrets: ["another"] }),
    FakeOpenAi.calls("list_secrets", {}),
    // A provider that tells the key that it was sent.
    FakeOpenAi.json({ error: { message: `Odd key ${key} and ${Buffer.from(key).toString("base64")}` } }, 500),
    FakeOpenAi.stream(
      FakeOpenAi.delta({ role: "assistant", content: `Done with ${key.slice(0, 11)}` }),
      FakeOpenAi.delta({ content: `${key.slice(11)}, and ` }),
      FakeOpenAi.delta({ content: encodeURIComponent(canaries.door) }),
      FakeOpenAi.delta({}, "stop"),
      FakeOpenAi.done
    )
  ])
  const at = yield* Program.place
  const vault = Object.entries(canaries).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
  yield* VaultFile.write(join(at.home, "secrets.vault.yml"), Redacted.make(password), vault.join(""))
  const daemon = yield* Program.daemon(
    at,
    settings({ provider: provider.baseUrl, host: new URL(host.url()).host, collector: collector.url() }),
    { TROUPE_VAULT_PASSWORD: password, ...mutationOf(mutation) }
  )
  const chat = yield* Program.run(at, ["chat", "--once", "use the door", "--json"])
  const history = yield* Program.run(at, ["history", "console:main", "--json"])
  const shown = yield* Program.run(at, ["tools", "--all"])
  daemon.process.kill("SIGTERM")
  const { stderr, stdout } = yield* daemon.ended
  const names = yield* files.readDirectory(at.data, { recursive: true })
  const written: Array<readonly [name: string, content: string]> = []
  for (const name of names) {
    const path = join(at.data, name)
    if ((yield* files.stat(path)).type !== "File") continue
    written.push([name, Buffer.from(yield* files.readFile(path)).toString("latin1")])
  }
  const client = `${chat.stdout}${chat.stderr}${history.stdout}${history.stderr}${shown.stdout}`
  const leaks = [
    ...elsewhere.visits.flatMap(({ head }) => leaksIn("another host", head)),
    ...provider.received.flatMap(({ body }) => leaksIn("a prompt", JSON.stringify(body))),
    ...leaksIn("what the collector gets", collected.join("")),
    ...leaksIn("the terminal", `${stdout}${stderr}`),
    ...leaksIn("a client", client),
    ...written.flatMap(([name, content]) => leaksIn(name, content))
  ]
  return { collected, collector, elsewhere, history, host, leaks, names, provider }
})

/** Each without one of the places that mask. Results of tools pass two, so that one alone is not missed. */
const mutations: Readonly<Record<string, Mutation>> = {
  "outputs of programs on their way to a file": {
    file: "layers/process/HostProcess.ts",
    from: "mask: secrets.bytes,",
    to: ""
  },
  "hexadecimal and base64": {
    file: "src/secret/Forms.ts",
    from: "longEnough(values.flatMap(encoded))",
    to: "new Set()"
  },
  "forms for URLs and JSON": {
    file: "src/secret/Forms.ts",
    from: "[value, ...written(value)]",
    to: "[value]"
  }
}

describe.skipIf(Needs.linux.missing)(Needs.titled(Needs.linux, "F057 canaries"), () => {
  it.live(
    "F057 secrets of the vault reach the host and the program they are for, and nothing else",
    () =>
      Effect.gen(function* () {
        const { collected, collector, elsewhere, history, host, leaks, names, provider } = yield* session()
        // They were there: a search that finds nothing where there was nothing proves nothing.
        assert.include(host.visits[0]?.head ?? "", `authorization: Bearer ${canaries.door}`)
        assert.strictEqual(provider.received[0]?.headers.authorization, `Bearer ${canaries.provider}`)
        assert.include(collector.visits[0]?.head ?? "", canaries.collector)
        assert.include(history.stdout, `length ${canaries.door.length}`)
        assert.include(history.stdout, "list_secrets")
        for (const word of ["[redacted]", "bash_output", "http:credential_not_for_host", "Done with [redacted]"]) {
          assert.include(history.stdout, word)
        }
        assert.isAbove(collected.length, 0)
        assert.lengthOf(provider.received, 10)
        assert.isTrue(names.some((name) => name.endsWith("troupe.log")))
        assert.isTrue(names.some((name) => name.includes("bash_output")))

        // Another host gets none, whether it is asked for or a redirection leads there.
        assert.lengthOf(elsewhere.visits, 1)
        assert.deepStrictEqual(leaks, [])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    180_000
  )

  for (const [what, mutation] of Object.entries(mutations)) {
    it.live(
      `the same session tells secrets once ${what} are not masked`,
      () =>
        Effect.map(session(mutation), ({ leaks }) => assert.isNotEmpty(leaks)).pipe(
          Effect.scoped,
          Effect.provide(NodeServices.layer)
        ),
      180_000
    )
  }
})
