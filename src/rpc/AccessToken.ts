/** The bearer token that lets a client in. */
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** The token in force. */
export class AccessToken extends Context.Service<AccessToken, { readonly token: Redacted.Redacted }>()(
  "troupe/rpc/AccessToken"
) {}

/** The token file cannot be trusted or used. `reason` is a sentence without the path. */
export class TokenUnusable extends Schema.TaggedError<TokenUnusable>()("TokenUnusable", {
  path: Schema.String,
  reason: Schema.String,
  remedy: Schema.String
}) {
  override get message() {
    return `The access token in ${this.path} cannot be used: ${this.reason}. ${this.remedy}`
  }
}

/** What may be sent in a header: visible ASCII, at least one character. */
export const isSendable = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)
