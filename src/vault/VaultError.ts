/** Why a vault cannot be used. Neither a value nor a password is ever in it. */
import * as Schema from "effect/Schema"

/** Reason → what is the case, and what to do about it. */
const reasons = {
  missing: ["there is no such file", "Make one with `troupe vault init`, or set [vault].path to where it is."],
  exists: ["there is such a file already", "Change it with `troupe vault edit`, or name another path."],
  not_a_vault: ["it is no vault of Troupe", "Name the file that `troupe vault init` made."],
  unsupported: [
    "it was written in a way that this version does not read",
    "Use the version of Troupe that wrote it, or a newer one."
  ],
  damaged: [
    "the password is right and the file is not what was written: it was changed, mixed up or cut off",
    "Put a backup of it in its place, and find out who changed it."
  ],
  corrupt: ["the file is not what was written: it was changed or cut off", "Put a backup of it in its place."],
  wrong_password: ["the password is wrong", "Try again with the password that it was last written with."],
  open_to_others: [
    "other users of this machine may read or change it",
    "`chmod 600` it, and `rotate` it if somebody did."
  ],
  unreadable: ["it cannot be read", "Make it readable for this user."],
  not_written: ["it could not be written; what was there is unchanged", "Make room, or make its folder writable."],
  invalid_secrets: [
    "the list of secrets is not valid; the vault is unchanged",
    "Each line is a name, a colon and a value."
  ],
  no_password: [
    "there is no password for it",
    "Set [vault].password_file (or --password-file), set TROUPE_VAULT_PASSWORD, or start it on a terminal to be asked."
  ],
  empty_password: ["the password is empty", "Choose one of several words."],
  passwords_differ: ["the two passwords are not the same", "Type the same one twice."],
  editor_failed: [
    "the editor did not end well; the vault is unchanged",
    "Set EDITOR to a program that waits until you are done."
  ]
} as const

export type Reason = keyof typeof reasons
const names = Object.keys(reasons).filter((reason): reason is Reason => reason in reasons)

export class VaultError extends Schema.TaggedError<VaultError>()("VaultError", {
  reason: Schema.Literals(names),
  /** The file it is about: the vault, or the file with its password. */
  path: Schema.String,
  /** More about this case, in words that are safe to show. */
  detail: Schema.optionalKey(Schema.String)
}) {
  get code(): `vault:${Reason}` {
    return `vault:${this.reason}`
  }
  /** What is the case. */
  get found(): string {
    const detail = this.detail === undefined ? "" : ` (${this.detail})`
    return `${reasons[this.reason][0]}${detail}`
  }
  get remedy(): string {
    return reasons[this.reason][1]
  }
  override get message() {
    return `The vault ${this.path} cannot be used: ${this.found}. ${this.remedy}`
  }
}
