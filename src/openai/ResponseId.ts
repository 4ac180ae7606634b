/**
 * The ids that clients get. They are the id of the message that was answered under another prefix, so that an id leads to
 * its thread and its turn for as long as the message exists, with nothing kept beside it.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Ids from "../Ids.ts"

export const ofMessage = (kind: "chatcmpl-" | "resp_" | "item_", id: Ids.MessageId): string => `${kind}${id.slice(4)}`

/** The message of a response id, if it has the form of one. */
export const messageOf = (id: string): Option.Option<Ids.MessageId> => {
  const suffix = /^(?:resp_|chatcmpl-)(.*)$/.exec(id)?.[1]
  return suffix === undefined ? Option.none() : decode(`msg_${suffix}`)
}

const decode = Schema.decodeUnknownOption(Ids.MessageId)
