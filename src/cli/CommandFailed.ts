/** How a command ends. The numbers are documented in docs/console.md and kept. */
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  inUse: 3,
  unavailable: 4,
  storage: 5,
  interrupted: 130
} as const

/** A command could not do what it was asked. The message is for a person; an empty one has been shown already. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  code: Schema.Int,
  text: Schema.String
}) {
  override readonly [Runtime.errorReported] = false
  override get [Runtime.errorExitCode](): number {
    return this.code
  }
  override get message() {
    return this.text
  }
}

export const usage = (text: string) => new CommandFailed({ code: exitCodes.usage, text })
export const unavailable = (text: string) => new CommandFailed({ code: exitCodes.unavailable, text })

/** The exit code of a failure, by what it is. */
export const codeOf = (tag: string): number => {
  switch (tag) {
    case "ConfigError":
    case "PromptUnreadable":
    case "ChannelNotFound":
    case "ShowHelp":
      return exitCodes.usage
    case "DataDirectoryInUse":
      return exitCodes.inUse
    case "RpcClientError":
    case "Unauthorized":
    case "ConversationUnavailable":
    case "Overloaded":
      return exitCodes.unavailable
    case "StorageUnavailable":
    case "DataDirectoryUnusable":
    case "DatabaseUnusable":
    case "SchemaTooNew":
    case "MigrationFailed":
      return exitCodes.storage
    default:
      return exitCodes.failed
  }
}
