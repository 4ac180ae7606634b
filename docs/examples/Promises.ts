/** Asks a running daemon one question, without Effect: `node Promises.ts URL TOKEN QUESTION` */
import { createTroupe, TroupeError } from "troupe/client"

const [url = "", token = "", question = ""] = process.argv.slice(2)
const troupe = createTroupe({ url, token, name: "example" })
try {
  for await (const piece of troupe.stream(question, { thread: "rpc:promises" })) {
    if (piece.type === "call") console.log(`calls ${piece.tool} with ${piece.arguments}`)
    if (piece.type === "question") {
      await troupe.decide(piece.question.threadId, piece.question, "nobody-to-ask")
    }
    if (piece.type === "answer") console.log(`${piece.answer.state}: ${piece.answer.text}`)
  }
} catch (error) {
  if (!(error instanceof TroupeError)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
} finally {
  await troupe.close()
}
