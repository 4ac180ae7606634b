import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as VaultFile from "../../layers/vault/VaultFile.ts"

const password = Redacted.make("correct horse battery staple")
const text = "door: a-very-long-secret\n"

const withVault = <E>(
  use: (path: string, files: FileSystem.FileSystem) => Effect.Effect<void, E, FileSystem.FileSystem | Path.Path>
) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = (yield* Path.Path).join(yield* files.makeTempDirectoryScoped(), "deep", "secrets.vault.yml")
    yield* VaultFile.write(path, password, text)
    yield* use(path, files)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const reasonOf = (path: string, secret = password) =>
  Effect.map(Effect.flip(VaultFile.read(path, secret)), ({ message, reason }) => {
    for (const word of ["horse", "long-secret"]) assert.notInclude(message, word)
    return reason
  })

const Fields = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite])))
const fieldsOf = (written: string) => Effect.orDie(Schema.decodeUnknownEffect(Fields)(written))

/** Another text in base64, of the same length. */
const flipped = (base64: string, at: number) => {
  const bytes = Buffer.from(base64, "base64")
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString("base64")
}

describe("the file of a vault", () => {
  it.live("is read with its password, is for its owner alone, and tells nothing", () =>
    withVault((path, files) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* VaultFile.read(path, password), text)
        assert.strictEqual((yield* files.stat(path)).mode & 0o777, 0o600)
        const written = yield* files.readFileString(path)
        for (const word of ["door", "secret:", "horse"]) assert.notInclude(written, word)
        assert.deepInclude(yield* fieldsOf(written), { version: 1, kdf: "scrypt", n: 32768, r: 8, p: 3 })
      })
    )
  )

  it.live("has a new salt and a new nonce each time, and leaves nothing beside it", () =>
    withVault((path, files) =>
      Effect.gen(function* () {
        const first = yield* fieldsOf(yield* files.readFileString(path))
        yield* VaultFile.write(path, password, text)
        const second = yield* fieldsOf(yield* files.readFileString(path))
        for (const field of ["salt", "nonce", "ciphertext", "check"]) assert.notStrictEqual(first[field], second[field])
        assert.deepStrictEqual(yield* files.readDirectory((yield* Path.Path).dirname(path)), ["secrets.vault.yml"])
      })
    )
  )

  it.live("tells a wrong password from a file that was damaged, and from one that somebody changed with care", () =>
    withVault((path, files) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* reasonOf(path, Redacted.make("another")), "wrong_password")
        const written = yield* files.readFileString(path)
        const fields = yield* fieldsOf(written)
        const replace = (changed: string) => files.writeFileString(path, changed)
        for (const field of ["salt", "nonce", "check", "ciphertext", "checksum"]) {
          yield* replace(JSON.stringify({ ...fields, [field]: flipped(String(fields[field]), 3) }))
          assert.strictEqual(yield* reasonOf(path), "corrupt", field)
        }
        // The checksum needs no password, so it is no proof: whoever makes a new one is found out by the tag.
        const ciphertext = flipped(String(fields["ciphertext"]), 5)
        yield* replace(JSON.stringify(yield* withChecksum({ ...fields, ciphertext })))
        assert.strictEqual(yield* reasonOf(path), "damaged")
        yield* replace(written.slice(0, written.length / 2))
        assert.strictEqual(yield* reasonOf(path), "not_a_vault")
        yield* replace(JSON.stringify({ ...fields, version: 2 }))
        assert.strictEqual(yield* reasonOf(path), "unsupported")
        // A cost that would take all memory is not tried.
        yield* replace(JSON.stringify(yield* withChecksum({ ...fields, n: 2 ** 30 })))
        assert.strictEqual(yield* reasonOf(path), "unsupported")
        yield* replace(written)
        assert.strictEqual(yield* VaultFile.read(path, password), text)
      })
    )
  )

  it.live("is refused while others can read it, and when it is something else", () =>
    withVault((path, files) =>
      Effect.gen(function* () {
        yield* files.chmod(path, 0o640)
        assert.strictEqual(yield* reasonOf(path), "open_to_others")
        yield* files.remove(path)
        assert.strictEqual(yield* reasonOf(path), "missing")
        yield* files.makeDirectory(path, { mode: 0o700 })
        assert.strictEqual(yield* reasonOf(path), "not_a_vault")
      })
    )
  )
})

/** As somebody without the password could write it. */
const withChecksum = (fields: Readonly<Record<string, string | number>>) =>
  Effect.sync(() => {
    const bytes = (name: string) => Buffer.from(String(fields[name]), "base64")
    const head = ["troupe vault", fields["version"], fields["kdf"], fields["n"], fields["r"], fields["p"]]
    const guarded = [...head, bytes("salt").toString("hex"), bytes("nonce").toString("hex")].join("\n")
    const hash = createHash("sha256").update(guarded).update(bytes("check")).update(bytes("ciphertext"))
    return { ...fields, checksum: hash.digest("base64") }
  })
