/** What the offline helper understands of files, recordings, programs, pages and pictures. Paths, contents and commands are taken as they were written. */
import * as Option from "effect/Option"
import type * as Skills from "./OfflineSkills.ts"
import * as Text from "./Text.ts"

/** Longest content of a file, output or page in an answer, in UTF-16 units. */
const longest = 2000

/** Names of a folder in one answer, and lines that a search found. */
const mostLines = 50

const fileTool = (name: string) => ({ name, configKey: "[tools.file_storage].enabled" })

/** A request without the words around it and the punctuation at its end. A quote at the end belongs to what it closes. */
const plain = (written: string): string =>
  withoutEnd(written.trim().replace(/^(?:please |(?:can|could) you (?:please )?)/i, "")).replace(/,? please$/i, "")

/** A loop, since an expression would look for the end from every place. */
const withoutEnd = (text: string): string => {
  let end = text.length
  while (end > 0 && " \t\n\r?!.,;:".includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** What a request says; none when it is not of this form, or is two requests. */
const said = (written: string, form: RegExp): ReadonlyArray<string> | undefined => {
  const found = form.exec(plain(written))?.slice(1)
  return found?.map((part) => part ?? "")
}

/** Without the quotes or backticks around all of it. */
const unquoted = (text: string): string => /^(["'`])((?:(?!\1).)+)\1$/s.exec(text)?.[2] ?? text

const isQuoted = (text: string): boolean => unquoted(text) !== text

/** A word that names a file, and not a thing of another kind: it has a point or a slash. */
const looksLikePath = (word: string): boolean => isQuoted(word) || /[./]/.test(word)

/** Words without quotes that go on with another request. */
const goesOn = (text: string): boolean => !isQuoted(text) && /[;\n]|,? (?:and|then) (?:then )?[a-z]+ /i.test(text)

const call = (params: Readonly<Record<string, unknown>>, label: string): Option.Option<Skills.Request> =>
  Option.some({ _tag: "Call", params, label })

const shown = (text: string): string => Text.clip(text.trimEnd(), longest)

const path = String.raw`("[^"]+"|'[^']+'|` + "`[^`]+`" + String.raw`|\S+)`

const write: Skills.Skill = {
  name: "write a file",
  summary: "write a file",
  examples: ["write hello to notes.txt", 'write "milk and eggs" to lists/shop.txt', "overwrite notes.txt with bye"],
  tool: fileTool("write_file"),
  failure: "I could not write that",
  match: (_request, _offered, written) => {
    const [, replaced, by] = ["", ...(said(written, replacing) ?? [])]
    if (replaced !== undefined && by !== undefined && looksLikePath(replaced) && !goesOn(by)) {
      return call({ path: unquoted(replaced), content: unquoted(by), overwrite: true }, unquoted(replaced))
    }
    const [content, name] = said(written, writing) ?? []
    if (content === undefined || name === undefined || !looksLikePath(name) || goesOn(content)) return Option.none()
    return call({ path: unquoted(name), content: unquoted(content) }, unquoted(name))
  },
  answer: (label, outcome) => {
    const change = Option.getOrElse(outcome.field("change"), () => "created")
    const size = Option.match(outcome.field("bytes_written"), { onNone: () => "", onSome: (n) => ` (${n} bytes)` })
    return change === "unchanged" ? `${label} has this content already.` : `I wrote ${label}${size}.`
  }
}
const writing = new RegExp(`^(?:write|save|put) ("[^"]+"|'[^']+'|.+) (?:to|into|in) (?:the )?(?:file )?${path}$`, "is")
const replacing = new RegExp(`^overwrite (?:the )?(?:file )?${path} with (.+)$`, "is")

const read: Skills.Skill = {
  name: "read a file",
  summary: "read a file",
  examples: ["read notes.txt", "show me the file notes.txt"],
  tool: fileTool("read_file"),
  failure: "I could not read that",
  match: (_request, _offered, written) => {
    const [file, name] = said(written, reading) ?? []
    if (name === undefined || (file === "" && !looksLikePath(name))) return Option.none()
    return /^https?:/i.test(name) ? Option.none() : call({ path: unquoted(name) }, unquoted(name))
  },
  answer: (_label, outcome) => shown(Option.getOrElse(outcome.field("content"), () => outcome.text))
}
const reading = new RegExp(`^(?:read|show|cat|open)(?: me)?(?: the)?( file)? ${path}$`, "i")

const list: Skills.Skill = {
  name: "list files",
  summary: "list files",
  examples: ["list files", "list files in lists"],
  tool: fileTool("list_files"),
  failure: "I could not list the files",
  match: (_request, _offered, written) => {
    const [folder] = said(written, listing) ?? []
    if (folder === undefined) return Option.none()
    return folder === "" ? call({}, "") : call({ folder: unquoted(folder) }, unquoted(folder))
  },
  answer: (label, outcome) => {
    const entries = outcome.list("entries")
    const where = label === "" ? "" : ` in ${label}`
    if (entries.length === 0) return `There are no files${where}.`
    const lines = entries
      .slice(0, mostLines)
      .map(({ is_dir, name, size_bytes }) =>
        is_dir === true ? `- ${String(name)}/` : `- ${String(name)} (${String(size_bytes)} bytes)`
      )
    const total = Number(Option.getOrElse(outcome.field("total"), () => String(entries.length)))
    const more = total > lines.length ? [`and ${total - lines.length} more`] : []
    return [`Files${where}:`, ...lines, ...more].join("\n")
  }
}
const listing = new RegExp(
  `^(?:(?:list|show)(?: me)?(?: the| my| all)*|what|which) files(?: are there| do i have)?(?: in (?:the folder )?${path})?$`,
  "i"
)

const search: Skills.Skill = {
  name: "search files",
  summary: "search for words in files",
  examples: ["search for milk in files", 'search for "blue bin" in lists'],
  tool: { name: "grep", configKey: "[tools.grep].enabled" },
  failure: "I could not search the files",
  match: (_request, _offered, written) => {
    const [words, place] = said(written, searching) ?? []
    if (words === undefined || place === undefined || goesOn(words)) return Option.none()
    const pattern = unquoted(words)
    const where = /^(?:(?:the|my|all) )*files$/i.test(place) ? {} : { path: unquoted(place) }
    return call({ pattern, fixed_string: true, ...where }, pattern)
  },
  answer: (label, outcome) => {
    const [header = "", ...found] = outcome.text.split("\n\n")
    if (!/^\d+ lines? match/.test(header)) return shown(outcome.text)
    if (found.length === 0) return `“${label}” is in no file.`
    const lines = found.join("\n").split("\n")
    const more = lines.length > mostLines ? ["and more"] : []
    return [`“${label}” is in:`, ...lines.slice(0, mostLines), ...more].join("\n")
  }
}
const searching = new RegExp(
  `^(?:search|look|grep)(?: for)? ("[^"]+"|'[^']+'|.+) in ((?:(?:the |my |all )*files)|${path.slice(1, -1)})$`,
  "is"
)

const replace: Skills.Skill = {
  name: "replace a line",
  summary: "replace a line of a file of apply_patch's workspace",
  examples: ["replace milk with tea in notes.txt", 'replace "two eggs" with "six eggs" in lists/shop.txt'],
  tool: { name: "apply_patch", configKey: "[tools.apply_patch].enabled" },
  failure: "I could not change that",
  match: (_request, _offered, written) => {
    const [old, fresh, name] = said(written, changing) ?? []
    if (old === undefined || fresh === undefined || name === undefined || !looksLikePath(name)) return Option.none()
    if (goesOn(old) || goesOn(fresh)) return Option.none()
    const file = unquoted(name)
    const lines = ["*** Begin Patch", `*** Update File: ${file}`, "@@", `-${unquoted(old)}`, `+${unquoted(fresh)}`]
    return call({ patch_text: [...lines, "*** End Patch"].join("\n") }, file)
  },
  answer: (label) => `I changed ${label}.`
}
const changing = new RegExp(
  `^(?:replace|change) (?:the line )?("[^"\\n]+"|'[^'\\n]+'|[^\\n]+?) (?:with|by|to) ("[^"\\n]+"|'[^'\\n]+'|[^\\n]+) in (?:the )?(?:file )?${path}$`,
  "i"
)

const run: Skills.Skill = {
  name: "run a command",
  summary: "run a command",
  examples: ["run `ls -l`", "run the command pwd"],
  tool: { name: "bash", configKey: "[tools.bash].enabled" },
  failure: "I could not run that",
  match: (_request, _offered, written) => {
    const [quoted, bare] = said(written, running) ?? []
    if (quoted === undefined || bare === undefined) return Option.none()
    const command = quoted === "" ? bare : quoted.slice(1, -1)
    return quoted === "" && goesOn(bare) ? Option.none() : call({ command }, command)
  },
  answer: (label, outcome) => `$ ${label}\n${ofProgram(outcome)}`
}
/** What a program said, and how it ended where it did not end well. */
const ofProgram = (outcome: Skills.Outcome): string => {
  const part = (name: string) => Option.getOrElse(outcome.field(name), () => "").trim()
  const code = part("exit_code")
  const output = [part("stdout") || part("stdout_preview"), part("stderr")].filter((text) => text !== "").join("\n")
  const ended = code === "0" ? "" : code === "" ? "It was ended." : `It ended with code ${code}.`
  const file = part("stdout_file_path")
  const more = file === "" ? "" : `All of it is in ${file}.`
  const body = output === "" && ended === "" ? "It said nothing." : shown(output)
  return [body, ended, more].filter((line) => line !== "").join("\n")
}
const running = /^(?:run|execute)(?: the)?(?: command)?:? (?:(`[^`]+`)|((?!`).+))$/is

const python: Skills.Skill = {
  name: "run Python",
  summary: "run Python code",
  examples: ["run python `print(6 * 7)`", "run the python code `import sys; print(sys.version)`"],
  tool: { name: "python_execute", configKey: "[tools.python_execute].enabled" },
  failure: "I could not run that",
  match: (_request, _offered, written) => {
    const [code] = said(written, computing) ?? []
    return code === undefined ? Option.none() : call({ code }, code)
  },
  answer: (_label, outcome) => ofProgram(outcome)
}
const computing = /^(?:run|execute)(?: the| this)? python(?: code)?:? `([^`]+)`$/is

const find: Skills.Skill = {
  name: "find files by name",
  summary: "find files by a pattern of their names",
  examples: ["find files like *.txt", "find files called **/shop.* in lists"],
  tool: { name: "glob_files", configKey: "[tools.file_storage].enabled" },
  failure: "I could not look for files",
  match: (_request, _offered, written) => {
    const [pattern, folder] = said(written, finding) ?? []
    if (pattern === undefined || folder === undefined) return Option.none()
    const where = folder === "" ? {} : { folder: unquoted(folder) }
    return call({ pattern: unquoted(pattern), ...where }, unquoted(pattern))
  },
  answer: (label, outcome) => {
    const entries = outcome.list("entries")
    if (entries.length === 0) return `No file is like ${label}.`
    const lines = entries.slice(0, mostLines).map(({ path: place }) => `- ${String(place)}`)
    const more = entries.length > lines.length ? ["and more"] : []
    return [`Like ${label}:`, ...lines, ...more].join("\n")
  }
}
const finding = new RegExp(
  `^(?:find|list|show)(?: me)? (?:all )?files (?:like|called|named|matching) ${path}(?: in ${path})?$`,
  "i"
)

const transcribe: Skills.Skill = {
  name: "transcribe a recording",
  summary: "say what is said in a recording",
  examples: ["transcribe memo.ogg", "transcribe the recording talks/monday.mp3"],
  tool: { name: "transcribe_audio", configKey: "[tools.audio_transcription].enabled" },
  failure: "I could not transcribe that",
  match: (_request, _offered, written) => {
    const [name] = said(written, transcribing) ?? []
    if (name === undefined || !looksLikePath(name)) return Option.none()
    return call({ path: unquoted(name) }, unquoted(name))
  },
  answer: (label, outcome) => {
    const text = Option.getOrElse(outcome.field("text"), () => outcome.text).trim()
    return text === "" ? `Nothing is said in ${label}.` : shown(text)
  }
}
const transcribing = new RegExp(`^transcribe(?: the)?(?: recording| file| audio)? ${path}$`, "i")

const gif: Skills.Skill = {
  name: "send a GIF",
  summary: "send a GIF",
  examples: ["send a gif of a happy cat", "send me a gif for good morning"],
  tool: { name: "send_gif", configKey: "[tools.send_gif].enabled" },
  failure: "I could not send a GIF",
  match: (_request, _offered, written) => {
    const [query] = said(written, sending) ?? []
    return query === undefined || goesOn(query) || query.length > 200
      ? Option.none()
      : call({ query: unquoted(query) }, unquoted(query))
  },
  answer: (label, outcome) => {
    const title = Option.getOrElse(outcome.field("title"), () => label) || label
    const isThere = Option.contains(outcome.field("sent_as"), "none")
    const address = Option.getOrElse(outcome.field("url"), () => "")
    return isThere ? `${title}: ${address}` : `I sent a GIF: ${title}.`
  }
}
const sending = /^(?:send|show)(?: me)? a gif (?:of|for|about|with) (.+)$/is

const fetchPage: Skills.Skill = {
  name: "fetch a page",
  summary: "fetch a page",
  examples: ["fetch https://example.org/", "get http://127.0.0.1:8080/status"],
  tool: { name: "http_request", configKey: "[tools.http_client].enabled" },
  failure: "I could not fetch that",
  match: (_request, _offered, written) => {
    const [url] = said(written, fetching) ?? []
    return url === undefined ? Option.none() : call({ url }, url)
  },
  answer: (label, outcome) => {
    const status = Option.getOrElse(outcome.field("status"), () => "")
    const body = Option.getOrElse(outcome.field("body"), () => outcome.text)
    return [`${label} answered ${status}:`.replace(" :", ":"), shown(body)].join("\n")
  }
}
const fetching = /^(?:fetch|get|download|open|read|show)(?: me)?(?: the)?(?: page| address)? (https?:\/\/\S+)$/i

/** In the order in which they are tried: an address before a path. */
export const skills: ReadonlyArray<Skills.Skill> = [
  write,
  replace,
  search,
  find,
  list,
  fetchPage,
  transcribe,
  gif,
  read,
  python,
  run
]
