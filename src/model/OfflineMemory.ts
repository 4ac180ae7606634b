/** What the offline helper understands of notes: to remember something, and to say what it knows. */
import * as Option from "effect/Option"
import type * as Skills from "./OfflineSkills.ts"
import * as Text from "./Text.ts"

/** Longest title that is made of what is to be remembered. */
const titleChars = 80

/** Notes in one answer. */
const mostNotes = 5

const configKey = "[tools.kv_memory].enabled"

export const remember: Skills.Skill = {
  name: "remember",
  summary: "remember something",
  examples: ["remember that the blue bin goes out on Fridays", "remember: Ada likes tea"],
  tool: { name: "memory_create", configKey },
  failure: "I could not remember that",
  match: (request, _offered, written) => {
    if (!/^(?:(?:can|could) you )?remember\b/.test(request) || /^remember$/.test(request)) return Option.none()
    // As it was written: names keep their capitals.
    const said = /\bremember\b(?: that\b)?[:,]?\s+(.+)$/is.exec(written)?.[1] ?? ""
    const data = said.replace(/[.!\s]+$/, "")
    if (data === "") return Option.none()
    const params = {
      title: Text.clip(data.replaceAll(/\s+/g, " "), titleChars),
      data,
      category: "other",
      source: "user"
    }
    return Option.some({ _tag: "Call", params, label: data })
  },
  answer: (label) => `I will remember: ${label}`
}

const recalling =
  /^(?:what do you (?:know|remember)|what did i tell you|do you (?:know|remember) anything|recall|what have you noted)(?: about| of)? ?(.*)$/

export const recall: Skills.Skill = {
  name: "recall",
  summary: "say what I was told to remember",
  examples: ["what do you know about the blue bin?", "what do you remember?"],
  tool: { name: "memory_search", configKey },
  failure: "I could not look that up",
  match: (request) => {
    const subject = recalling.exec(request)?.[1]
    if (subject === undefined) return Option.none()
    const about = subject.replace(/^(?:my|the|a|an) /, "")
    const params = about === "" ? { limit: mostNotes } : { query: about, limit: mostNotes }
    return Option.some({ _tag: "Call", params, label: subject })
  },
  answer: (label, outcome) => {
    const entries = outcome.list("entries")
    if (entries.length === 0) return label === "" ? "I was told nothing yet." : `I know nothing about ${label}.`
    return [
      label === "" ? "I remember:" : `What I know about ${label}:`,
      ...entries.map(({ data, title }) => `- ${lineOf(String(title), String(data))}`)
    ].join("\n")
  }
}

/** A title that is made of the text says nothing more than the text does. */
const lineOf = (title: string, data: string): string => {
  const text = Text.clip(data.replaceAll(/\s+/g, " "), 300)
  return data.startsWith(title.replace(/…$/, "")) ? text : `${title}: ${text}`
}
