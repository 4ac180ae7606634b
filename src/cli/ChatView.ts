/**
 * What a person sees of a thread that is being served: items of the watch go in, lines to print for good and a few lines
 * that still change come out. Pure, so that every order of items can be tried.
 */
import type * as Approvals from "../approval/Approvals.ts"
import type * as Conversations from "../conversation/Conversations.ts"
import type * as Event from "../event/Event.ts"
import type * as Ids from "../Ids.ts"
import type * as Entry from "../thread/Entry.ts"
import * as Plain from "./Plain.ts"
import type { Style } from "./Style.ts"
import * as Transcript from "./Transcript.ts"

export interface View {
  /** Whether a turn is being served now. */
  readonly turn: boolean
  /** The line of streamed text that has no end yet, and whether it is reasoning. */
  readonly partial: string
  readonly partialIs: "text" | "reasoning"
  /** What of the current step's text has been shown, to tell it from the entry that repeats it. */
  readonly streamed: string
  /** How much of the current step's reasoning has been shown, in UTF-16 code units. */
  readonly reasoned: number
  /** The last step that is in the log: a piece of it comes late. */
  readonly said: { readonly turnId: Ids.TurnId; readonly step: number } | undefined
  /** Messages that came in the middle of a step: they are printed behind it. */
  readonly joining: ReadonlyArray<Extract<Entry.Entry, { _tag: "UserMessage" }>>
  /** The tools of the calls that run, by id of the call. */
  readonly running: ReadonlyMap<string, string>
  /** Details of calls whose result has not come, by id; the entry with the call has the last word on them. */
  readonly details: ReadonlyMap<string, string>
  readonly questions: ReadonlyArray<Approvals.ApprovalRequest>
  /** Words of the runtime that wait for what follows: the end of the turn may say the same. */
  readonly notice: string
  /** Why the model is about to be asked again, and when; empty while it is not. */
  readonly retry: string
  /** What the runtime does before the model is asked; empty while it does nothing. */
  readonly preparing: string
}

export const empty: View = {
  turn: false,
  partial: "",
  partialIs: "text",
  streamed: "",
  reasoned: 0,
  said: undefined,
  joining: [],
  running: new Map(),
  details: new Map(),
  questions: [],
  notice: "",
  retry: "",
  preparing: ""
}

/** The next view, and the text to print for good: nothing, or whole lines. */
export type Step = readonly [View, string]

export const next = (view: View, item: Conversations.WatchItem, style: Style): Step => {
  switch (item._tag) {
    case "Entry":
      return onEntry(view, item.stored.entry, style)
    case "Live":
      return onEvent(view, item.event, style)
    case "CaughtUp":
      return [view, ""]
  }
}

/** The questions that wait, as the daemon tells them when asked: after a cut, events of the time between are lost. */
export const withQuestions = (view: View, questions: ReadonlyArray<Approvals.ApprovalRequest>): View => ({
  ...view,
  questions
})

const onEntry = (view: View, entry: Entry.Entry, style: Style): Step => {
  const [next, text] = printed({ ...view, notice: "", retry: "" }, entry, style)
  const notice = view.notice === "" || Transcript.isSaidByEnd(view.notice, entry) ? "" : view.notice
  return [next, notice === "" ? text : `${style.dim(Plain.lines(notice))}\n${text}`]
}

const printed = (view: View, entry: Entry.Entry, style: Style): Step => {
  switch (entry._tag) {
    case "UserMessage":
      return isInStep(view)
        ? [{ ...view, joining: [...view.joining, entry] }, ""]
        : [view, `\n${Transcript.person(entry, style)}\n`]
    case "TurnStarted":
    case "TurnResumed":
      return beginAgain({ ...view, turn: true }, style)
    case "AssistantMessage": {
      const [rest, text] = finishText(view, entry.text, style)
      const details = new Map(rest.details)
      for (const call of entry.calls) details.set(call.callId, Transcript.detailOf(call))
      const [next, joined] = endStep({ ...rest, said: { turnId: entry.turnId, step: entry.step }, details }, style)
      return [next, text + joined]
    }
    case "ToolResult": {
      const [rest, text] = endPartial(view, style)
      const line = Transcript.toolLine(entry.name, view.details.get(entry.callId) ?? "", entry, style)
      return [withoutCall(rest, entry.callId), `${text}${line}\n`]
    }
    case "FileSent": {
      const [rest, text] = endPartial(view, style)
      return [rest, `${text}${Transcript.fileSent(entry, style)}\n`]
    }
    case "ModelSwitched": {
      const [rest, text] = endStep(view, style)
      return [rest, `${text}${Transcript.switched(entry, style)}\n`]
    }
    case "Notice": {
      const [rest, text] = endPartial(view, style)
      return [{ ...rest, notice: entry.text }, text]
    }
    case "TurnEnded": {
      const [rest, text] = endStep(view, style)
      const how = entry.state === "answered" ? "" : `${Transcript.ending(entry, style)}\n`
      return [
        { ...rest, turn: false, preparing: "", running: new Map(), details: new Map(), questions: [] },
        text + how
      ]
    }
    default:
      return [view, ""]
  }
}

const onEvent = (view: View, event: Event.Event, style: Style): Step => {
  switch (event._tag) {
    case "TurnStarted":
      return [{ ...view, turn: true }, ""]
    case "ModelDelta":
      return onDelta({ ...view, retry: "" }, event, style)
    case "Compaction":
      return event.notify === "off" ? [view, ""] : compaction(view, event, style)
    case "ModelRetry":
      return [{ ...view, turn: true, retry: retryOf(event) }, ""]
    case "ToolCall": {
      if (event.phase !== "started") {
        const running = new Map(view.running)
        running.delete(event.callId)
        return [{ ...view, running }, ""]
      }
      const detail = view.details.get(event.callId) ?? detailOf(event)
      return [
        {
          ...view,
          running: new Map(view.running).set(event.callId, Plain.clipped(event.tool, 64)),
          details: new Map(view.details).set(event.callId, detail)
        },
        ""
      ]
    }
    case "ApprovalRequested":
      return view.questions.some(({ approvalId }) => approvalId === event.request.approvalId)
        ? [view, ""]
        : [{ ...view, questions: [...view.questions, event.request] }, ""]
    case "ApprovalResolved":
      return [{ ...view, questions: view.questions.filter(({ approvalId }) => approvalId !== event.approvalId) }, ""]
    default:
      return [view, ""]
  }
}

const compaction = (view: View, event: Extract<Event.Event, { _tag: "Compaction" }>, style: Style): Step => {
  const detail = Plain.line(event.detail)
  if (event.phase === "started") return [{ ...view, turn: true, preparing: detail }, ""]
  const [rest, text] = endPartial({ ...view, preparing: "", retry: "" }, style)
  const summary = event.summary === undefined ? "" : `${style.dim(Plain.lines(event.summary.trimEnd()))}\n`
  return [rest, `${text}${style.dim(`── ${detail} ──`)}\n${summary}`]
}

/** Why a model is asked again and when, in one line. */
export const retryOf = (event: Extract<Event.Event, { _tag: "ModelRetry" }>): string => {
  const reason = Plain.line(event.reason).replace(/[.\s]+$/, "")
  const seconds = Math.ceil(event.waitMillis / 1000)
  return `${reason}; trying again in ${seconds} s (${event.retry} of ${event.retries})`
}

/** What is known of a call within another one, which has no entry. It begins with the tool's name, which stands in the line already. */
const detailOf = (call: Extract<Event.Event, { _tag: "ToolCall" }>): string => {
  const name = `\`${call.tool}\` `
  const rest = call.detail.startsWith(name) ? call.detail.slice(name.length) : call.detail
  return Plain.clipped(rest, Transcript.detailWidth)
}

/** A piece of the text that does not follow on what is shown is left to the entry, which has all of it. */
const onDelta = (view: View, event: Extract<Event.Event, { _tag: "ModelDelta" }>, style: Style): Step => {
  const { kind, offset, step, text, turnId } = event
  if (view.said?.turnId === turnId && step <= view.said.step) return [view, ""]
  const had = kind === "text" ? view.streamed.length : view.reasoned
  if (kind === "text" && offset !== 0 && offset !== had) return [view, ""]
  const [fresh, cut] = offset === 0 && had > 0 ? beginAgain(view, style) : [view, ""]
  const [next, shown] = delta(fresh, kind, text, style)
  return [next, cut + shown]
}

const isInStep = (view: View): boolean => view.streamed !== "" || view.reasoned > 0

/** Ends what streams in, with the messages that joined it. */
const endStep = (view: View, style: Style): Step => {
  const [rest, text] = endPartial(view, style)
  const joined = view.joining.map((message) => `\n${Transcript.person(message, style)}\n`)
  return [{ ...rest, streamed: "", reasoned: 0, joining: [] }, text + joined.join("")]
}

/** What was shown of a step is not part of its answer: a daemon was started again, or the model asked again. */
const beginAgain = (view: View, style: Style): Step => {
  const [rest, text] = endPartial(view, style)
  const cut = view.streamed.trim() !== "" || view.reasoned > 0 ? `${style.dim(cutOff)}\n` : ""
  const [next, joined] = endStep(rest, style)
  return [next, text + cut + joined]
}

const cutOff = "── cut off here; the answer begins again ──"

const delta = (view: View, kind: "text" | "reasoning", text: string, style: Style): Step => {
  const [rest, before] = view.partialIs === kind ? ([view, ""] as const) : endPartial(view, style)
  const paint = kind === "reasoning" ? style.dim : (line: string) => line
  const all = rest.partial + text
  const cut = all.lastIndexOf("\n") + 1
  const whole = all.slice(0, cut)
  const grown = kind === "text" ? { streamed: rest.streamed + text } : { reasoned: rest.reasoned + text.length }
  return [
    { ...rest, ...grown, turn: true, partial: all.slice(cut), partialIs: kind },
    before + paint(Plain.lines(whole))
  ]
}

/** Ends a line that was being streamed. */
const endPartial = (view: View, style: Style): Step => {
  if (view.partial === "") return [view, ""]
  const text = Plain.lines(view.partial)
  const painted = view.partialIs === "reasoning" ? style.dim(text) : text
  return [{ ...view, partial: "" }, `${painted}\n`]
}

/** The whole text of a step has come: what of it has been streamed is not printed again. */
const finishText = (view: View, text: string, style: Style): Step => {
  const [rest, before] = endPartial(view, style)
  if (text.startsWith(view.streamed) && view.streamed !== "") {
    const left = text.slice(view.streamed.length).trimEnd()
    if (left === "") return [rest, before]
    // The line that was open goes on.
    const open = view.partialIs === "text" ? view.partial : ""
    return [rest, open === "" ? `${before}${Plain.lines(left)}\n` : `${Plain.lines(open + left)}\n`]
  }
  return text.trim() === "" ? [rest, before] : [rest, `${before}${Plain.lines(text.trimEnd())}\n`]
}

const withoutCall = (view: View, callId: string): View => {
  const running = new Map(view.running)
  const details = new Map(view.details)
  running.delete(callId)
  details.delete(callId)
  return { ...view, running, details }
}

/** The lines that still change: text that streams in, calls that run. */
export const live = (view: View, style: Style): string => {
  const text = Plain.lines(view.partial)
  const partial = text === "" ? [] : [view.partialIs === "reasoning" ? style.dim(text) : text]
  const calls = [...view.running].map(
    ([id, tool]) => `  ${style.dim("…")} ${tool} ${style.dim(view.details.get(id) ?? "")}`
  )
  const joining = view.joining.map((message) => `\n${Transcript.person(message, style)}`)
  const notice = view.notice === "" ? [] : [style.dim(Plain.lines(view.notice))]
  const waiting = ["…", view.preparing, view.retry].filter((words) => words !== "").join(" ")
  const busy = view.turn && partial.length + calls.length + notice.length === 0 ? [style.dim(waiting)] : []
  return [...partial, ...notice, ...calls, ...busy, ...joining].join("\n")
}

/** The question to be answered now. `detail` may have several lines. */
export const question = (request: Approvals.ApprovalRequest, style: Style): string =>
  `${style.asking("?")} ${style.bold(`Allow ${Plain.clipped(request.tool, 64)}?`)} ${Plain.lines(request.detail).replaceAll("\n", "\n  ")}`
