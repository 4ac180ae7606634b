/** `troupe vault`: makes, changes, lists and re-encrypts the file of secrets. Needs no daemon. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import { Environment } from "../../../src/config/Environment.ts"
import { VaultError } from "../../../src/vault/VaultError.ts"
import * as ConfigFile from "../../config/ConfigFile.ts"
import * as EnvironmentLive from "../../config/Environment.ts"
import * as Password from "../../vault/Password.ts"
import * as Unlocking from "../../vault/Unlocking.ts"
import * as VaultFile from "../../vault/VaultFile.ts"
import * as AskingPassword from "../AskingPassword.ts"
import * as Editor from "../Editor.ts"
import { MainControl } from "../MainControl.ts"
import * as OutputLive from "../Output.ts"
import type { Common } from "./Client.ts"

export interface Flags {
  readonly path: string | undefined
  readonly passwordFile: string | undefined
}

const newPasswordVariable = "TROUPE_VAULT_NEW_PASSWORD"

/** What a new vault holds. */
const beginning =
  "# One secret a line: a name, a colon and a value.\n# Names begin with a letter or _; a value of several lines is a JSON string in quotes.\n"

export const init = (common: Common, flags: Flags) =>
  Effect.gen(function* () {
    const { passwordFile, path } = yield* place(common, flags)
    if (yield* VaultFile.exists(path)) return yield* new VaultError({ path, reason: "exists" })
    yield* VaultFile.write(path, yield* Password.choose(path, passwordFile, Password.variable), beginning)
    yield* say(
      `${path} is there, and empty. Fill it with \`troupe vault edit\`, and keep a copy of it and its password.`
    )
  }).pipe(Effect.provide(platform(common)))

export const list = (common: Common, flags: Flags) =>
  Effect.gen(function* () {
    const { passwordFile, path } = yield* place(common, flags)
    const secrets = yield* Unlocking.unlock(path, passwordFile)
    yield* (yield* Output).out(
      Array.from(secrets.keys())
        .toSorted()
        .map((name) => `${Plain.line(name)}\n`)
        .join("")
    )
  }).pipe(Effect.provide(platform(common)))

export const edit = (common: Common, flags: Flags) =>
  Effect.gen(function* () {
    const control = yield* MainControl
    const { passwordFile, path } = yield* place(common, flags)
    yield* VaultFile.readEnvelope(path)
    const password = yield* Password.find(path, passwordFile)
    const before = yield* VaultFile.read(path, password)
    const after = yield* Editor.edit({ path, text: before, editor: yield* editor, over: control.yieldTerminal })
    if (after === before) return yield* say(`${path}: nothing was changed.`)
    const secrets = yield* Unlocking.secretsOf(path, after)
    if (Buffer.byteLength(after) > VaultFile.mostBytes) {
      return yield* new VaultError({
        path,
        reason: "invalid_secrets",
        detail: `more than ${VaultFile.mostBytes} bytes`
      })
    }
    yield* VaultFile.write(path, password, after)
    yield* say(
      `${path}: ${secrets.size} ${secrets.size === 1 ? "secret" : "secrets"}. A running daemon reads it at its next start.`
    )
  }).pipe(Effect.provide(platform(common)))

export const rotate = (common: Common, flags: Flags & { readonly newPasswordFile: string | undefined }) =>
  Effect.gen(function* () {
    const paths = yield* Path.Path
    const { passwordFile, path } = yield* place(common, flags)
    yield* VaultFile.readEnvelope(path)
    const text = yield* VaultFile.read(path, yield* Password.find(path, passwordFile))
    const newFile = flags.newPasswordFile === undefined ? "" : paths.resolve(flags.newPasswordFile)
    yield* VaultFile.write(path, yield* Password.choose(path, newFile, newPasswordVariable), text)
    yield* say(`${path} has a new password. Copies of it still have the old one.`)
  }).pipe(Effect.provide(platform(common)))

/** What is named, else what the settings say. */
const place = Effect.fnUntraced(function* (common: Common, flags: Flags) {
  const paths = yield* Path.Path
  const settings = yield* ConfigFile.vaultSettings({ path: common.config })
  const file = flags.passwordFile ?? (flags.path === undefined ? settings.password_file : "")
  return {
    path: paths.resolve(flags.path ?? settings.path),
    passwordFile: file === "" ? "" : paths.resolve(file)
  }
})

const editor = Effect.gen(function* () {
  const environment = yield* Environment
  for (const name of ["EDITOR", "VISUAL"]) {
    const value = Option.getOrElse(yield* environment.get(name), () => "").trim()
    if (value !== "") return value
  }
  return "vi"
})

const say = (line: string) => Effect.flatMap(Output, (output) => output.out(`${Plain.line(line)}\n`))

const platform = (common: Common) =>
  AskingPassword.layer.pipe(
    Layer.provideMerge(OutputLive.layer(common)),
    Layer.provideMerge(Layer.mergeAll(EnvironmentLive.layer, NodeServices.layer))
  )
