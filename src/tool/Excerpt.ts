/** A long text with its middle left out. */
import * as Redaction from "./Redaction.ts"

/** At most `limit` UTF-16 units: start and end with a note between of how much is missing, cut between characters. */
export const startAndEnd = (text: string, limit: number): string => {
  if (text.length <= limit) return text
  const room = limit - note(text.length).length
  if (room < 2) return Redaction.head(text, Math.max(0, limit))
  const start = Redaction.head(text, Math.ceil((room * 2) / 3))
  const end = Redaction.tail(text, room - start.length)
  return `${start}${note(text.length - start.length - end.length)}${end}`
}

const note = (characters: number): string => `\n[… ${characters} characters left out …]\n`
