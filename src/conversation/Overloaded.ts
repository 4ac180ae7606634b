/** The process is short of memory: messages are refused before anything of them is kept, so that the turns at work can end. */
import * as Schema from "effect/Schema"

export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {}) {
  override get message() {
    return "The daemon is short of memory and takes no messages now. Nothing was written; try again when turns have ended."
  }
}
