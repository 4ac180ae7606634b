/** What a tool call can end with besides its result. Codes are `subsystem:reason`. */
import * as Schema from "effect/Schema"

/** The arguments are not what the tool takes. `problem` names the field and what was expected, not the value. */
export class InvalidToolArguments extends Schema.TaggedError<InvalidToolArguments>()("InvalidToolArguments", {
  tool: Schema.String,
  problem: Schema.String
}) {
  readonly code = "invalid_tool_arguments"
  override get message() {
    return `The arguments of ${this.tool} were not accepted: ${this.problem}`
  }
}

export class ToolTimeout extends Schema.TaggedError<ToolTimeout>()("ToolTimeout", {
  tool: Schema.String,
  timeoutMillis: Schema.Int
}) {
  readonly code = "tool:timeout"
  override get message() {
    return `${this.tool} did not finish within ${this.timeoutMillis} ms and was interrupted.`
  }
}

export class ToolCancelled extends Schema.TaggedError<ToolCancelled>()("ToolCancelled", { tool: Schema.String }) {
  readonly code = "tool:cancelled"
  override get message() {
    return `${this.tool} was cancelled before it finished.`
  }
}

/** A person, a policy or the absence of anybody who could answer said no. */
export class ToolDenied extends Schema.TaggedError<ToolDenied>()("ToolDenied", {
  tool: Schema.String,
  reason: Schema.Literals(["denied", "expired", "nobody-to-ask", "cancelled"])
}) {
  readonly code = "tool_approval:denied"
  override get message() {
    return `${this.tool} was not allowed to run: ${whyDenied[this.reason]}`
  }
}

/** A rule of the operator says no, and nobody is asked. */
export class ToolForbidden extends Schema.TaggedError<ToolForbidden>()("ToolForbidden", {
  tool: Schema.String,
  rule: Schema.String,
  reason: Schema.String
}) {
  readonly code = "tool:forbidden"
  override get message() {
    const why = this.reason === "" ? "" : ` (${this.reason})`
    return `${this.tool} may not do this: the rule ${this.rule} forbids it${why}. Do not try to do it in another way; say that a rule forbids it.`
  }
}

/** What happened, and what the model should do about it. */
const whyDenied = {
  denied: "the person asked said no. Do not try it again unless the person asks for it.",
  expired:
    "the person was asked and did not answer in time. Do not try it again in this turn: say that it waits for their yes, and that they can ask for it again.",
  "nobody-to-ask":
    "it needs a person's yes, and nobody could be asked where this message came from. Nobody said no. Do not try it again in this turn: say that it needs an approval, which a person can give in an interactive session.",
  cancelled:
    "the question about it was withdrawn before anybody answered. Do not try it again unless the person asks for it."
} as const

export class ToolLimitReached extends Schema.TaggedError<ToolLimitReached>()("ToolLimitReached", {
  tool: Schema.String,
  perTurn: Schema.Int
}) {
  readonly code = "tool:per_turn_limit"
  override get message() {
    return `${this.tool} may be called ${this.perTurn} times in one turn, and was. Answer with what you have.`
  }
}

export class UnknownTool extends Schema.TaggedError<UnknownTool>()("UnknownTool", {
  tool: Schema.String,
  offered: Schema.Array(Schema.String)
}) {
  readonly code = "tool:unknown"
  override get message() {
    const offered = this.offered.length === 0 ? "No tool is offered." : `Offered are: ${this.offered.join(", ")}.`
    const shell = this.offered.includes("bash") ? " To run a command of the system, call bash." : ""
    return `There is no tool ${JSON.stringify(this.tool)} in this turn. ${offered}${shell}`
  }
}

/** The handler broke a promise: it died. The details are in the log, not here. */
export class ToolCrashed extends Schema.TaggedError<ToolCrashed>()("ToolCrashed", { tool: Schema.String }) {
  readonly code = "tool_execution_failed"
  override get message() {
    return `${this.tool} failed because of a defect in the tool itself. The log has the details.`
  }
}

/** A wrapper of an extension did not let the call through, or changed its result into one that the tool cannot have. */
export class ToolRefused extends Schema.TaggedError<ToolRefused>()("ToolRefused", {
  tool: Schema.String,
  code: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.tool} was not run: ${this.reason}`
  }
}
