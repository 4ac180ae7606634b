/** The line a person types: editing, history, pasting. Pure: a key goes in, the next state and what it means come out. */
import * as Inbound from "../thread/Inbound.ts"
import * as Plain from "./Plain.ts"
import * as Width from "./Width.ts"

export interface Key {
  readonly name: string
  readonly ctrl: boolean
  readonly meta: boolean
  readonly shift: boolean
  /** What the key stands for as text. */
  readonly input: string
}

export interface Editor {
  readonly text: ReadonlyArray<string>
  /** Characters before the cursor. */
  readonly cursor: number
  /** Oldest first. */
  readonly history: ReadonlyArray<string>
  /** The place in the history that is shown; the length of the history is what is being typed. */
  readonly at: number
  readonly draft: ReadonlyArray<string>
  readonly pasting: boolean
}

export type Meaning =
  | { readonly _tag: "Edited" }
  | { readonly _tag: "Submitted"; readonly text: string }
  /** Ctrl+C. */
  | { readonly _tag: "Interrupted" }
  /** Ctrl+D on an empty line. */
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Redraw" }

export const empty: Editor = { text: [], cursor: 0, history: [], at: 0, draft: [], pasting: false }

export const textOf = (editor: Editor): string => editor.text.join("")

/** An empty line with the same history. */
export const cleared = (editor: Editor): Editor => ({
  ...editor,
  text: [],
  cursor: 0,
  at: editor.history.length,
  draft: []
})

/** The line with this text, the cursor at its end. */
export const holding = (editor: Editor, text: string): Editor => {
  const characters = Width.characters(text)
  return { ...cleared(editor), text: characters, cursor: characters.length }
}

/**
 * Keys that came at once, with each run of text as one key: a paste is one edit and not thousands. `pasting`: whether they
 * came in the middle of a paste.
 */
export const together = (keys: ReadonlyArray<Key>, pasting: boolean): ReadonlyArray<Key> => {
  const found: Array<Key> = []
  let run: Array<Key> = []
  let inPaste = pasting
  const end = () => {
    const [only] = run
    if (run.length === 1 && only !== undefined) found.push(only)
    if (run.length > 1) found.push({ ...plain, input: run.map(({ input }) => input).join("") })
    run = []
  }
  for (const key of keys) {
    if (isPasteMark(key)) inPaste = key.name === "paste-start"
    if (!isPasteMark(key) && (inPaste ? key.input !== "" : isText(key))) run.push(key)
    else {
      end()
      found.push(key)
    }
  }
  end()
  return found
}

const plain = { name: "", ctrl: false, meta: false, shift: false }

export const isPasteMark = ({ name }: Key): boolean => name === "paste-start" || name === "paste-end"

/** What only adds to the line. */
const isText = ({ ctrl, input, meta, name }: Key): boolean =>
  !ctrl && !meta && input !== "" && !isControl(input) && !commands.has(name)

const commands = new Set("return enter backspace delete left right home end up down escape tab".split(" "))

export const press = (editor: Editor, key: Key): readonly [Editor, Meaning] => {
  if (key.name === "paste-start") return edited({ ...editor, pasting: true })
  if (key.name === "paste-end") return edited({ ...editor, pasting: false })
  // Inside a paste a line end is a line end, not a command to send.
  if (editor.pasting) return edited(insert(editor, key.name === "return" || key.name === "enter" ? "\n" : key.input))
  if (key.ctrl) return control(editor, key)
  switch (key.name) {
    case "return":
      return key.meta ? edited(insert(editor, "\n")) : submit(editor)
    // What Ctrl+J sends.
    case "enter":
      return edited(insert(editor, "\n"))
    case "backspace":
      return edited(key.meta ? removeTo(editor, wordBefore(editor)) : removeTo(editor, editor.cursor - 1))
    case "delete":
      return edited(removeTo(editor, editor.cursor + 1))
    case "left":
      return edited(moveTo(editor, key.meta ? wordBefore(editor) : editor.cursor - 1))
    case "right":
      return edited(moveTo(editor, key.meta ? wordAfter(editor) : editor.cursor + 1))
    case "home":
      return edited(moveTo(editor, lineStart(editor)))
    case "end":
      return edited(moveTo(editor, lineEnd(editor)))
    case "up":
      return edited(recall(editor, editor.at - 1))
    case "down":
      return edited(recall(editor, editor.at + 1))
    case "escape":
    case "tab":
      return edited(editor)
    default:
      if (key.meta && key.name === "b") return edited(moveTo(editor, wordBefore(editor)))
      if (key.meta && key.name === "f") return edited(moveTo(editor, wordAfter(editor)))
      return edited(key.meta || isControl(key.input) ? editor : insert(editor, key.input))
  }
}

const control = (editor: Editor, key: Key): readonly [Editor, Meaning] => {
  switch (key.name) {
    case "c":
      return [editor, { _tag: "Interrupted" }]
    case "d":
      return editor.text.length === 0 ? [editor, { _tag: "Ended" }] : edited(removeTo(editor, editor.cursor + 1))
    case "l":
      return [editor, { _tag: "Redraw" }]
    case "j":
      return edited(insert(editor, "\n"))
    case "a":
      return edited(moveTo(editor, lineStart(editor)))
    case "e":
      return edited(moveTo(editor, lineEnd(editor)))
    case "b":
      return edited(moveTo(editor, editor.cursor - 1))
    case "f":
      return edited(moveTo(editor, editor.cursor + 1))
    case "left":
      return edited(moveTo(editor, wordBefore(editor)))
    case "right":
      return edited(moveTo(editor, wordAfter(editor)))
    case "h":
      return edited(removeTo(editor, editor.cursor - 1))
    case "w":
      return edited(removeTo(editor, wordBefore(editor)))
    case "u":
      return edited(removeTo(editor, lineStart(editor)))
    case "k":
      return edited(removeTo(editor, lineEnd(editor)))
    case "p":
      return edited(recall(editor, editor.at - 1))
    case "n":
      return edited(recall(editor, editor.at + 1))
    default:
      return edited(editor)
  }
}

/** How the line looks in rows of `columns`, and where the cursor is in them. */
export const layout = (
  editor: Editor,
  prompt: string,
  columns: number
): { readonly rows: ReadonlyArray<string>; readonly row: number; readonly column: number } => {
  const indent = " ".repeat(Width.of(prompt))
  const wrap = (characters: ReadonlyArray<string>) =>
    Plain.lines(characters.join(""))
      .split("\n")
      .flatMap((line, index) => Width.rows((index === 0 ? prompt : indent) + line, columns))
  const before = wrap(editor.text.slice(0, editor.cursor))
  return {
    rows: wrap(editor.text),
    row: before.length - 1,
    column: Width.of(before.at(-1) ?? "")
  }
}

const edited = (editor: Editor): readonly [Editor, Meaning] => [editor, { _tag: "Edited" }]

const submit = (editor: Editor): readonly [Editor, Meaning] => {
  const text = textOf(editor)
  if (Inbound.isBlank(text)) return edited(editor)
  const history = editor.history.at(-1) === text ? editor.history : [...editor.history, text].slice(-longestHistory)
  return [cleared({ ...editor, history }), { _tag: "Submitted", text }]
}

const longestHistory = 500

const insert = (editor: Editor, input: string): Editor => {
  const typed = input.replaceAll(/\r\n?/g, "\n")
  if (typed === "") return editor
  // What was typed may join the character before it, and only that one: the line before it is not looked at again.
  const kept = editor.text.slice(0, Math.max(0, editor.cursor - 1))
  const added = Width.characters((editor.text[editor.cursor - 1] ?? "") + typed)
  const before = kept.concat(added)
  return { ...editor, text: before.concat(editor.text.slice(editor.cursor)), cursor: before.length }
}

const moveTo = (editor: Editor, cursor: number): Editor => ({
  ...editor,
  cursor: Math.min(Math.max(0, cursor), editor.text.length)
})

const removeTo = (editor: Editor, other: number): Editor => {
  const from = Math.max(0, Math.min(editor.cursor, other))
  const to = Math.min(editor.text.length, Math.max(editor.cursor, other))
  return { ...editor, text: [...editor.text.slice(0, from), ...editor.text.slice(to)], cursor: from }
}

const recall = (editor: Editor, at: number): Editor => {
  if (at < 0 || at > editor.history.length) return editor
  const draft = editor.at === editor.history.length ? editor.text : editor.draft
  const text = at === editor.history.length ? draft : Width.characters(editor.history[at] ?? "")
  return { ...editor, at, draft, text, cursor: text.length }
}

const lineStart = (editor: Editor): number => editor.text.slice(0, editor.cursor).lastIndexOf("\n") + 1

const lineEnd = (editor: Editor): number => {
  const end = editor.text.indexOf("\n", editor.cursor)
  return end === -1 ? editor.text.length : end
}

const wordBefore = (editor: Editor): number => {
  let at = editor.cursor
  while (at > 0 && isSpace(editor.text[at - 1])) at--
  while (at > 0 && !isSpace(editor.text[at - 1])) at--
  return at
}

const wordAfter = (editor: Editor): number => {
  let at = editor.cursor
  while (at < editor.text.length && isSpace(editor.text[at])) at++
  while (at < editor.text.length && !isSpace(editor.text[at])) at++
  return at
}

const isSpace = (character: string | undefined): boolean => character !== undefined && /^\s$/u.test(character)

const isControl = (input: string): boolean => /^\p{Cc}/u.test(input)
