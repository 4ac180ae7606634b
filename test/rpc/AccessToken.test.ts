import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as AccessTokenLive from "../../layers/rpc/AccessToken.ts"
import * as Authentication from "../../layers/rpc/Authentication.ts"
import { ClientSettings } from "../../src/config/ClientSettings.ts"
import { Settings } from "../../src/config/Settings.ts"
import * as Access from "../../src/rpc/Access.ts"
import { AccessToken } from "../../src/rpc/AccessToken.ts"
import * as Wire from "../../src/rpc/Wire.ts"
import { KnownSecrets } from "../../src/secret/KnownSecrets.ts"
import { DataDirectory } from "../../src/storage/DataDirectory.ts"

/** The token that a fresh start finds or makes in a directory. */
const tokenIn = (path: string, which: "layer" | "layerExisting", configured = "") =>
  Effect.gen(function* () {
    const paths = yield* Path.Path
    const { token } = yield* AccessToken.pipe(
      Effect.provide(
        (which === "layer"
          ? AccessTokenLive.layer.pipe(
              Layer.provide(KnownSecrets.layerSettings),
              Layer.provide(Settings.layer({ http: { auth_token: configured } }))
            )
          : AccessTokenLive.layerExisting.pipe(
              Layer.provide(ClientSettings.layer({ http: { auth_token: configured } }))
            )
        ).pipe(Layer.provide(Layer.succeed(DataDirectory, { path, file: (name) => paths.join(path, name) }))),
        { local: true }
      )
    )
    return Redacted.value(token)
  })

const withDirectory = <E>(
  use: (path: string, files: FileSystem.FileSystem) => Effect.Effect<void, E, FileSystem.FileSystem | Path.Path>
) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    yield* use(yield* files.makeTempDirectoryScoped(), files)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("the token", () => {
  it.live("is made once, for its owner alone, and cannot be guessed", () =>
    withDirectory((path, files) =>
      Effect.gen(function* () {
        const first = yield* tokenIn(path, "layer")
        assert.match(first, /^[A-Za-z0-9_-]{43}$/)
        assert.strictEqual(yield* tokenIn(path, "layer"), first)
        assert.strictEqual(yield* tokenIn(path, "layerExisting"), first)
        assert.strictEqual((yield* files.stat(`${path}/token`)).mode & 0o777, 0o600)
        assert.deepStrictEqual(yield* files.readDirectory(path), ["token"])
      })
    )
  )

  it.live("is refused when others may have read it, or when it is none", () =>
    withDirectory((path, files) =>
      Effect.gen(function* () {
        const secret = yield* tokenIn(path, "layer")
        for (const mode of [0o640, 0o604, 0o660, 0o620]) {
          yield* files.chmod(`${path}/token`, mode)
          const error = yield* Effect.flip(tokenIn(path, "layer"))
          assert.strictEqual(error._tag, "TokenUnusable")
          assert.include(error.message, "chmod 600")
          assert.notInclude(error.message, secret)
        }
        yield* files.chmod(`${path}/token`, 0o600)
        for (const content of ["", "\n", "two words", "ümlaut"]) {
          yield* files.writeFileString(`${path}/token`, content)
          assert.strictEqual((yield* Effect.flip(tokenIn(path, "layer")))._tag, "TokenUnusable", content)
        }
        yield* files.remove(`${path}/token`)
        yield* files.makeDirectory(`${path}/token`)
        assert.strictEqual((yield* Effect.flip(tokenIn(path, "layer")))._tag, "TokenUnusable")
      })
    )
  )

  it.live("of the settings goes before the file's, and makes none", () =>
    withDirectory((path, files) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* tokenIn(path, "layer", "of-the-settings-0123"), "of-the-settings-0123")
        assert.deepStrictEqual(yield* files.readDirectory(path), [])
        assert.strictEqual((yield* Effect.flip(tokenIn(path, "layer", "with a space 01234")))._tag, "ConfigError")
        assert.strictEqual((yield* Effect.flip(tokenIn(path, "layerExisting")))._tag, "TokenUnusable")
      })
    )
  )

  it("is compared as a whole", () => {
    const token = Redacted.make("abcdef")
    assert.isTrue(Authentication.isToken(token, "abcdef"))
    for (const sent of [undefined, "", "abcde", "abcdefg", "ABCDEF", "abcdeg"]) {
      assert.isFalse(Authentication.isToken(token, sent))
    }
    assert.strictEqual(Authentication.bearerOf("Bearer x.y-z"), "x.y-z")
    assert.strictEqual(Authentication.bearerOf("bearer  x "), "x")
    for (const header of [undefined, "", "Bearer", "Bearer a b", "Basic x", "Bearerx"]) {
      assert.isUndefined(Authentication.bearerOf(header))
    }
  })

  it("travels as a subprotocol, whatever its characters", () => {
    for (const token of ["plain", "with/slash+and=", '"quotes",and,commas', "~!@#$%^&*()"]) {
      const [first, second] = Wire.subprotocols(token)
      assert.match(second, /^[\w.-]+$/)
      assert.strictEqual(Wire.tokenOfSubprotocols(`${first}, ${second}`), token)
      assert.isUndefined(Wire.tokenOfSubprotocols(second))
    }
  })
})

describe("a server that others can reach", () => {
  const judge = (host: string, origin?: string) =>
    Access.judge(
      { host: "0.0.0.0", port: 7433, allowedOrigins: ["https://troupe.example:8443"] },
      { host, origin, fetchSite: undefined }
    )._tag

  it("goes by any address in figures, and by the names it was told", () => {
    for (const host of [
      "192.168.0.7:7433",
      "[fe80::1]:7433",
      "localhost:7433",
      "10.0.0.1:9999",
      "troupe.example:8443"
    ]) {
      assert.strictEqual(judge(host), "Allowed", host)
    }
    for (const host of [
      "evil.example:7433",
      "troupe.example",
      "troupe.example.evil:8443",
      "192.168.0.7.evil.example"
    ]) {
      assert.strictEqual(judge(host), "Refused", host)
    }
  })

  it("takes pages from its own address and from allowed ones", () => {
    assert.strictEqual(judge("192.168.0.7:7433", "http://192.168.0.7:7433"), "Allowed")
    assert.strictEqual(judge("192.168.0.7:7433", "https://troupe.example:8443"), "Allowed")
    assert.strictEqual(judge("192.168.0.7:7433", "http://192.168.0.8:7433"), "Refused")
    assert.strictEqual(judge("192.168.0.7:7433", "https://troupe.example"), "Refused")
  })
})
