/** What `rg --json` writes, one message a line; only what is used of it. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Text, or the bytes of what is no UTF-8, which are nothing to us. */
const Text = Schema.Struct({ text: Schema.optionalKey(Schema.String) })
const Position = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Line = Schema.Struct({
  type: Schema.Literals(["match", "context"]),
  data: Schema.Struct({
    path: Text,
    lines: Text,
    line_number: Position,
    absolute_offset: Position,
    // A line may match very often: only the first of them is looked at.
    submatches: Schema.Array(Schema.Unknown)
  })
})

const Message = Schema.Union([
  Line,
  Schema.Struct({ type: Schema.Literal("begin"), data: Schema.Struct({ path: Text }) }),
  Schema.Struct({
    type: Schema.Literal("end"),
    data: Schema.Struct({ path: Text, binary_offset: Schema.NullOr(Position) })
  }),
  Schema.Struct({
    type: Schema.Literal("summary"),
    data: Schema.Struct({ stats: Schema.Struct({ searches: Position }) })
  })
])
export type Message = typeof Message.Type
export type Line = typeof Line.Type

/** None for what is no such message. */
export const read: (line: string) => Option.Option<Message> = Schema.decodeUnknownOption(Schema.fromJsonString(Message))

const startOf = Schema.decodeUnknownOption(Schema.Struct({ start: Position }))

/** Where the first match of a line begins, in bytes; 0 for a line that is context. */
export const firstStart = ({ data }: Line): number =>
  Option.match(startOf(data.submatches[0]), { onNone: () => 0, onSome: ({ start }) => start })
