// Transcribes one file with whisper.cpp, in a process of its own: whatever the model or the library does, it ends with this process.
//
// node engine.js '{"package":…,"model":…,"file":…,"language":…,"translate":…,"gpu":…}'
//
// The last line of the output is the answer as JSON: { text, language, segments } or { failed: "engine_missing" | "engine_failed" }.
import { createRequire } from "node:module"

const asked = JSON.parse(process.argv[2] ?? "{}")

const answer = (said) => process.stdout.write(`\n${JSON.stringify(said)}\n`)

/** Undefined where the package is not installed, or is for another machine. */
const load = () => {
  try {
    return createRequire(import.meta.url)(asked.package)
  } catch {
    return undefined
  }
}

// The library counts in milliseconds.
const segmentOf = ({ t0, t1, text }) => ({ start: t0 / 1000, end: t1 / 1000, text: text.trim() })

const transcribe = async ({ WhisperContext }) => {
  const context = await new WhisperContext({ filePath: asked.model, useGpu: asked.gpu })
  const { language, result, segments } = await context.transcribeFile(asked.file, {
    language: asked.language,
    translate: asked.translate
  }).promise
  return { text: result.trim(), language: language ?? null, segments: segments.map(segmentOf) }
}

const library = load()
let answered = false
const conclude = (said) => {
  answered = true
  answer(said)
}

// A failure inside the library settles nothing: there is nothing left to wait for, and no answer.
process.on("beforeExit", () => {
  if (!answered) conclude({ failed: "engine_failed" })
})

if (library === undefined) conclude({ failed: "engine_missing" })
else transcribe(library).then(conclude, () => conclude({ failed: "engine_failed" }))
