/** What may be handed in from outside, with its limits: the texts and names that end up in a thread. */
import * as Schema from "effect/Schema"

/** Characters of one message. */
export const longestText = 1_000_000

// Spaces of all kinds, control and format characters, halves of surrogate pairs, fillers that show nothing.
const invisible = /^[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]*$/u

/** Whether a text has nothing in it that can be seen. */
export const isBlank = (text: string): boolean => invisible.test(text)

/** What a person says. */
export const MessageText = Schema.String.check(
  Schema.isMaxLength(longestText, { expected: `a text of at most ${longestText} characters` }),
  Schema.makeFilter((text: string) => !isBlank(text), {
    expected: "a text that says something, more than blanks and invisible characters"
  })
)

// A line break or a change of direction in a name would let it pass for something else where it is shown.
const label = String.raw`[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]{1,200}`

/** A sender's own id of a message: the same one is accepted once. */
export const ExternalId = Schema.String.check(
  Schema.isPattern(new RegExp(`^${label}$`, "u"), {
    expected: "an id of 1 to 200 characters without control characters"
  })
)

/** What somebody is called. */
export const Name = Schema.String.check(
  Schema.isPattern(new RegExp(`^${label}$`, "u"), {
    expected: "a name of 1 to 200 characters on one line"
  })
)

/** Characters of one file in base64: as many as a request may have. */
const longestData = 8 * 1024 * 1024

/** A file that comes with a message: `data` is base64, `mediaType` what the sender takes it for. */
const Attachment = Schema.Struct({
  name: Name,
  mediaType: Schema.optionalKey(Name),
  data: Schema.String.check(
    Schema.isMaxLength(longestData, { expected: `a content of at most ${longestData} characters of base64` })
  )
})

export const Attachments = Schema.Array(Attachment).check(
  Schema.isMaxLength(100, { expected: "at most 100 attachments" })
)

/** Who wrote a message, as whoever hands it in knows them. */
export const Sender = Schema.Struct({ id: Schema.optionalKey(Name), name: Schema.optionalKey(Name) })
