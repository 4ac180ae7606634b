/** What is printed around the commands: help that was asked for, and what is wrong with a command line. */
import * as CliOutput from "effect/cli/CliOutput"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Plain from "../../src/cli/Plain.ts"

/** Standard output is for what was asked for. A mistake is told on standard error, and where to find help with it. */
export const presenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    if (event._tag === "InvalidInvocation") {
      const errors = event.errors.map((error) => `troupe: ${Plain.lines(inShort(error.message))}\n`).join("")
      return yield* Console.error(`${errors}See \`${event.commandPath.join(" ")} --help\`.`)
    }
    if (event._tag === "Help" && event.reason === "Implicit") {
      const formatter = CliOutput.defaultFormatter({ colors: false })
      return yield* Console.error(formatter.formatHelpDoc(event.helpDoc))
    }
    yield* CliOutput.defaultPresenter.present(event)
  })
}

const inShort = (message: string): string => message.replace("Expected: Schema validation failed: Expected", "Expected")
