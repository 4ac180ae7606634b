/**
 * A chat with a person at a terminal. Keys, items of the watch and changes of the window go into one queue; one loop takes
 * whatever is there, works out the next state, and draws once.
 */
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberHandle from "effect/FiberHandle"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { RpcClientError } from "effect/rpc/RpcClientError"
import * as Stream from "effect/Stream"
import type { Terminal } from "effect/Terminal"
import * as Monotonic from "../../../src/Monotonic.ts"
import * as ApprovalWords from "../../../src/cli/ApprovalWords.ts"
import * as Beginning from "../../../src/cli/Beginning.ts"
import * as ChatScreen from "../../../src/cli/ChatScreen.ts"
import * as ChatView from "../../../src/cli/ChatView.ts"
import * as LineEditor from "../../../src/cli/LineEditor.ts"
import * as Outgoing from "../../../src/cli/Outgoing.ts"
import { Output } from "../../../src/cli/Output.ts"
import * as Plain from "../../../src/cli/Plain.ts"
import * as SlashCommand from "../../../src/cli/SlashCommand.ts"
import * as Undone from "../../../src/cli/Undone.ts"
import * as Transcript from "../../../src/cli/Transcript.ts"
import * as Width from "../../../src/cli/Width.ts"
import type * as Approvals from "../../../src/approval/Approvals.ts"
import { TroupeClient } from "../../../src/client/TroupeClient.ts"
import * as Unreachable from "../../../src/client/Unreachable.ts"
import type * as Watch from "../../../src/client/Watch.ts"
import type { WatchItem } from "../../../src/conversation/Conversations.ts"
import * as Held from "../../../src/conversation/Held.ts"
import * as Ids from "../../../src/Ids.ts"
import type * as TroupeRpcs from "../../../src/rpc/TroupeRpcs.ts"
import type * as Entry from "../../../src/thread/Entry.ts"
import type * as Threads from "../../../src/thread/Threads.ts"
import * as Client from "../commands/Client.ts"
import * as Holding from "./Holding.ts"
import * as Keys from "./Keys.ts"
import * as Screen from "./Screen.ts"
import { Session } from "./Session.ts"

type Happening =
  | { readonly _tag: "Key"; readonly key: LineEditor.Key; readonly at: number }
  | { readonly _tag: "Item"; readonly thread: Threads.ThreadKey; readonly item: WatchItem }
  | { readonly _tag: "Questions"; readonly questions: ReadonlyArray<Approvals.ApprovalRequest> }
  /** Whole lines to print. */
  | { readonly _tag: "Print"; readonly text: string }
  | { readonly _tag: "Note"; readonly text: string }
  /** A message that the daemon did not say that it has. `unsure`: it may have it. */
  | { readonly _tag: "NotSent"; readonly message: Outgoing.Message; readonly why: string; readonly unsure: boolean }
  | { readonly _tag: "Resized" }
  | { readonly _tag: "Gone"; readonly why: string }
  | { readonly _tag: "Closed" }

/** What the loop remembers. */
interface State {
  thread: Threads.ThreadKey
  view: ChatView.View
  editor: LineEditor.Editor
  note: string
  unconfirmed: ReadonlyArray<Outgoing.Message>
  /** When the question that is shown appeared. */
  askedAt: number
  /** When Ctrl+C was pressed last. */
  interruptedAt: number
  over: boolean
}

/** The chat, over a session that is opened while the keyboard is heard already. */
export const chat = <E, R>(first: Threads.ThreadKey, session: Layer.Layer<TroupeClient | Session, E, R>) =>
  Effect.gen(function* () {
    const terminal = yield* Keys.terminal
    const screen = yield* Screen.make(terminal)
    const keyboard = yield* Keys.keyboard(terminal)
    yield* Effect.raceFirst(
      Effect.provide(conversation(first, { keyboard, screen, terminal }), session),
      keyboard.givenUp
    )
  }).pipe(Effect.scoped)

interface Seat {
  readonly terminal: Terminal
  readonly screen: Screen.Screen
  readonly keyboard: Keys.Keyboard
}

const conversation = Effect.fnUntraced(function* (first: Threads.ThreadKey, { keyboard, screen, terminal }: Seat) {
  const client = yield* TroupeClient
  const { outStyle: style } = yield* Output
  const happenings = yield* Queue.unbounded<Happening>()
  const watching = yield* FiberHandle.make<void, never>()
  // Messages go in the order in which they were typed, and one on its way is not broken off by going elsewhere.
  const sending = yield* Semaphore.make(1)
  const state: State = {
    thread: first,
    view: ChatView.empty,
    editor: LineEditor.empty,
    note: "",
    unconfirmed: [],
    askedAt: 0,
    interruptedAt: Number.NEGATIVE_INFINITY,
    over: false
  }

  const tell = (happening: Happening) => Effect.asVoid(Queue.offer(happenings, happening))
  const print = (text: string) => tell({ _tag: "Print", text })

  /** Something that was asked for and takes a while; a failure is a line on the screen. */
  const background = <E extends { readonly message: string }>(effect: Effect.Effect<void, E>) =>
    effect.pipe(
      Effect.catch((error) => print(`${style.bad(Plain.lines(describe(error)))}\n`)),
      Effect.forkScoped
    )

  const onCut: Watch.Cuts["onCut"] = () =>
    tell({ _tag: "Note", text: "The daemon is away; this chat goes on when it is back. Ctrl+C leaves." })

  const follow = <E extends { readonly message: string }>(
    thread: Threads.ThreadKey,
    items: Stream.Stream<TroupeRpcs.SentItem, E>
  ) => {
    const asks = Effect.flatMap(client.Inspect({ thread }), ({ approvals }) =>
      tell({ _tag: "Questions", questions: approvals })
    )
    return items.pipe(
      Stream.runForEach((item) =>
        item._tag === "Accepted"
          ? Effect.void
          : Effect.andThen(
              tell({ _tag: "Item", thread, item }),
              item._tag === "CaughtUp" ? Effect.andThen(tell({ _tag: "Note", text: "" }), asks) : Effect.void
            )
      ),
      Effect.catch((error) => tell({ _tag: "Gone", why: describe(error) })),
      FiberHandle.run(watching)
    )
  }

  const lastEntries = (thread: Threads.ThreadKey, limit: number) =>
    Effect.map(Stream.runCollect(client.history({ thread, limit: Math.min(1000, limit + Beginning.slack) })), (pages) =>
      Beginning.whole(pages.flat(), limit)
    )

  /** Goes to a thread: its last words first, then what happens. A thread that does not exist begins with a message. */
  const enter = Effect.fnUntraced(function* (thread: Threads.ThreadKey) {
    yield* sending.withPermit(FiberHandle.clear(watching))
    state.thread = thread
    state.view = ChatView.empty
    const last = yield* lastEntries(thread, opening).pipe(Effect.catchTag("ThreadNotFound", () => Effect.succeed(null)))
    yield* print(style.dim(`── ${Plain.line(thread)} ──\n`))
    if (last === null) return
    const begun = unfinished(last)
    const past = begun === undefined ? last : last.slice(0, begun)
    const above = last[0] === undefined ? "" : Beginning.above(last[0], last.length, style)
    yield* print(above + Transcript.render(past, style))
    const from = begun === undefined ? (last.at(-1)?.seq ?? 0) + 1 : (last[begun]?.seq ?? 1)
    yield* follow(thread, client.watch({ thread, from, onCut }))
  })

  /**
   * What could not be sent is not lost: it stands in the line again, unless something else does by now. It keeps its id, since
   * the daemon may have it though the answer was lost.
   */
  const send = Effect.fnUntraced(function* (typed: Outgoing.Typed) {
    const message = { thread: state.thread, ...typed }
    const watched = yield* FiberHandle.get(watching)
    return yield* Effect.suspend((): Effect.Effect<Omit<TroupeRpcs.Accepted, "_tag">, Watch.SendError> =>
      watched._tag === "Some" ? client.Send(message) : sendAndFollow(message)
    ).pipe(
      Effect.tap(({ duplicate }) => (duplicate ? print(`${style.dim(Outgoing.takenBefore)}\n`) : Effect.void)),
      Effect.catch((error) =>
        Effect.as(
          tell({ _tag: "NotSent", message, why: describe(error), unsure: Unreachable.isUnsure(error) }),
          undefined
        )
      )
    )
  }, sending.withPermit)

  /** Sends, and then says if nothing will come of it for now; the next message need not wait for that. */
  const submit = Effect.fnUntraced(function* (message: Outgoing.Typed) {
    const accepted = yield* send(message)
    if (accepted === undefined) return
    const held = yield* Effect.provideService(Holding.holds(accepted.threadId), TroupeClient, client)
    if (held) yield* print(`${style.dim(`The message waits. ${Held.why}`)}\n`)
  })

  /** What was typed, under a new id, or under the one that it has when it is being sent again. */
  const typed = Effect.fnUntraced(function* (text: string) {
    const before = Outgoing.find(state.unconfirmed, state.thread, text)
    state.unconfirmed = state.unconfirmed.filter((message) => message !== before)
    return before ?? { text, externalId: yield* Ids.makeMessageId }
  })

  const sendAndFollow = Effect.fnUntraced(function* (message: Outgoing.Message) {
    const taken = yield* Deferred.make<TroupeRpcs.Accepted, Watch.SendError>()
    const items = client.sendAndWatch(message, { onCut }).pipe(
      Stream.tap((item) => (item._tag === "Accepted" ? Deferred.succeed(taken, item) : Effect.void)),
      // A failure to send is told by who waits for it, and any later one by who follows.
      Stream.catch((error) =>
        Stream.unwrap(Effect.map(Deferred.fail(taken, error), (unsent) => (unsent ? Stream.empty : Stream.fail(error))))
      ),
      Stream.onExit((exit) => (Exit.isFailure(exit) ? Deferred.failCause(taken, exit.cause) : Effect.void))
    )
    yield* follow(message.thread, items)
    return yield* Deferred.await(taken)
  })

  const command = Effect.fnUntraced(function* (text: string, parsed: SlashCommand.SlashCommand) {
    yield* print(`${style.dim(Plain.line(text))}\n`)
    switch (parsed._tag) {
      case "Help":
        return yield* print(SlashCommand.help)
      case "Stop":
        return yield* client.Stop({ thread: state.thread }).pipe(
          Effect.flatMap((outcome) => (outcome === "idle" ? print(style.dim("nothing runs\n")) : Effect.void)),
          Effect.catchTag("ThreadNotFound", () => print(style.dim("nothing runs\n")))
        )
      case "Threads": {
        const { threads } = yield* client.Threads({ limit: 20 })
        return yield* print(Transcript.threads(threads, style))
      }
      case "Tools":
        return yield* print(Transcript.tools(yield* client.Tools(), style))
      case "Status":
        return yield* print(Transcript.status(yield* client.Status(), style))
      case "History":
        return yield* Stream.runForEach(
          Transcript.history(client.history({ thread: state.thread, limit: parsed.limit }), {
            limit: parsed.limit,
            more: "/history",
            style
          }),
          print
        )
      case "Thread":
        return yield* enter(yield* Client.threadKey(parsed.name))
      case "New":
        return yield* enter(yield* Client.threadKey(yield* newName))
      case "Undo":
        return yield* client.Undo({ thread: state.thread }).pipe(
          Effect.flatMap((report) => print(Undone.words(report))),
          Effect.catchTag(["NothingToUndo", "TurnStillRuns"], (error) =>
            print(`${style.dim(Plain.line(error.message))}\n`)
          ),
          Effect.catchTag("ThreadNotFound", () => print(style.dim("nothing was done here yet\n")))
        )
      case "Approvals":
        return yield* print(ApprovalWords.list(yield* client.Approvals(), yield* client.Grants()))
      case "Revoke":
        return yield* Effect.flatMap(decodeGrantId(parsed.id), (grantId) => client.RevokeGrant({ grantId })).pipe(
          Effect.andThen(print(style.dim(ApprovalWords.revoked))),
          Effect.catchTag("GrantNotFound", (error) => print(`${style.dim(Plain.line(error.message))}\n`)),
          Effect.catchTag("SchemaError", () => print(style.dim("that is no id of a grant; /approvals lists them\n")))
        )
      case "Quit":
        return yield* tell({ _tag: "Closed" })
      case "Unknown":
        return yield* print(`${style.bad(Plain.line(parsed.problem))}\n`)
    }
  })

  const interrupt = Effect.fnUntraced(function* (now: number) {
    const again = now - state.interruptedAt < twice
    state.interruptedAt = now
    if (again) state.over = true
    else if (state.view.turn) {
      state.note = "stopping; Ctrl+C again leaves"
      yield* background(Effect.asVoid(client.Stop({ thread: state.thread })))
    } else if (state.editor.text.length > 0) state.editor = LineEditor.cleared(state.editor)
    else state.over = true
  })

  const decide = Effect.fnUntraced(function* (request: Approvals.ApprovalRequest, answer: Keys.Answer) {
    state.view = ChatView.withQuestions(
      state.view,
      state.view.questions.filter(({ approvalId }) => approvalId !== request.approvalId)
    )
    const { thread } = state
    const { approvalId, nonce } = request
    yield* background(
      Effect.flatMap(client.Decide({ thread, approvalId, nonce, ...ApprovalWords.decisionOf(answer) }), (answered) =>
        answered === "more-needed" ? print(style.dim(ApprovalWords.moreNeeded)) : Effect.void
      )
    )
    const words = ApprovalWords.answer[answer]
    return `${ChatView.question(request, style)} ${answer === "no" ? style.bad(words) : style.good(words)}\n`
  })

  const pressed = Effect.fnUntraced(function* (key: LineEditor.Key, now: number) {
    const [question] = state.view.questions
    // A key that was on its way when the question came up was not an answer to it.
    const answer = question === undefined || now - state.askedAt < hesitation ? undefined : Keys.answerOf(key)
    if (question !== undefined && answer !== undefined) {
      const shown = yield* decide(question, answer)
      if (key.ctrl && key.name === "c") yield* interrupt(now)
      return shown
    }
    if (question !== undefined && now - state.askedAt >= hesitation && !key.ctrl) return ""
    const [editor, meaning] = LineEditor.press(state.editor, key)
    state.editor = editor
    switch (meaning._tag) {
      case "Submitted": {
        const parsed = SlashCommand.parse(meaning.text)
        const text = meaning.text.startsWith("//") ? meaning.text.slice(1) : meaning.text
        yield* background(parsed === undefined ? submit(yield* typed(text)) : command(meaning.text, parsed))
        return ""
      }
      case "Interrupted":
        yield* interrupt(now)
        return ""
      case "Ended":
        state.over = true
        return ""
      case "Redraw":
        yield* screen.clear
        return "\u001b[2J\u001b[H"
      case "Edited":
        return ""
    }
  })

  /** The text that a happening prints for good. */
  const take = Effect.fnUntraced(function* (happening: Happening) {
    const asked = state.view.questions[0]?.approvalId
    const text = yield* react(happening)
    const asking = state.view.questions[0]?.approvalId
    if (asking !== undefined && asking !== asked) state.askedAt = yield* Monotonic.millis
    return text
  })

  const react = (happening: Happening): Effect.Effect<string, never, Scope.Scope> => {
    switch (happening._tag) {
      case "Key":
        return pressed(happening.key, happening.at)
      case "Item":
        return Effect.sync(() => {
          if (happening.thread !== state.thread) return ""
          const [view, text] = ChatView.next(state.view, happening.item, style)
          if (state.view.turn && !view.turn) state.note = ""
          state.view = view
          return text
        })
      case "Questions":
        return Effect.sync(() => {
          state.view = ChatView.withQuestions(state.view, happening.questions)
          return ""
        })
      case "Print":
        return Effect.succeed(happening.text)
      case "Note":
        return Effect.sync(() => {
          state.note = happening.text
          return ""
        })
      case "NotSent":
        return Effect.sync(() => {
          const restored = state.editor.text.length === 0
          if (restored) state.editor = LineEditor.holding(state.editor, happening.message.text)
          state.unconfirmed = [...state.unconfirmed, happening.message]
          return `${style.bad(Outgoing.words(Plain.lines(happening.why), { restored, unsure: happening.unsure }))}\n`
        })
      case "Gone":
        return Effect.succeed(`${style.bad(Plain.lines(happening.why))}\n`)
      case "Closed":
        return Effect.sync(() => {
          state.over = true
          return ""
        })
      case "Resized":
        return Effect.succeed("")
    }
  }

  yield* print(yield* greeting)
  yield* enter(first)
  const resizes = yield* terminal.size
  yield* keyboard.ready
  yield* Stream.fromQueue(keyboard.pressed).pipe(
    Stream.runForEachArray((keys) =>
      Queue.offerAll(
        happenings,
        keys.map(({ at, key }) => ({ _tag: "Key", key, at }) as const)
      )
    ),
    Effect.andThen(tell({ _tag: "Closed" })),
    Effect.forkScoped
  )
  yield* Stream.fromQueue(resizes).pipe(
    Stream.runForEach(() => tell({ _tag: "Resized" })),
    Effect.forkScoped
  )

  while (!state.over) {
    const batch = yield* Queue.takeAll(happenings)
    let text = ""
    for (const happening of state.view.questions.length === 0 ? typedTogether(batch, state.editor) : batch) {
      text += yield* take(happening)
    }
    // A paste is drawn when all of it is there.
    if (text === "" && state.editor.pasting && batch.every(({ _tag }) => _tag === "Key")) continue
    const size = { columns: yield* screen.columns, height: yield* screen.height }
    yield* screen.show(Width.wrap(text, size.columns - 1).join("\n"), ChatScreen.block(state, size, style))
  }
})

/** The happenings, with keys that came one right behind the other put together as far as they are text. */
const typedTogether = (happenings: ReadonlyArray<Happening>, { pasting }: LineEditor.Editor) => {
  const found: Array<Happening> = []
  let keys: Array<LineEditor.Key> = []
  let inPaste = pasting
  for (const [index, happening] of happenings.entries()) {
    if (happening._tag !== "Key") {
      found.push(happening)
      continue
    }
    keys.push(happening.key)
    if (happenings[index + 1]?._tag === "Key") continue
    found.push(...LineEditor.together(keys, inPaste).map((key) => ({ _tag: "Key", key, at: happening.at }) as const))
    inPaste = keys.findLast(LineEditor.isPasteMark)?.name === "paste-start"
    keys = []
  }
  return found
}

/** How many entries of a thread one sees when one comes to it, and a few more for the sake of whole turns. */
const opening = 20

/** Ctrl+C within this many milliseconds of the last one leaves. */
const twice = 2000

/** Keys this soon after a question appears, in milliseconds, still belong to the line. */
const hesitation = 500

const greeting = Effect.gen(function* () {
  const output = yield* Output
  const { embedded } = yield* Session
  const status = yield* (yield* TroupeClient).Status()
  const { bold, dim } = output.outStyle
  const own = embedded
    ? dim("\nNo daemon was running: this one ends with the chat. `troupe` starts one that stays.")
    : ""
  return `${bold(`Troupe ${status.version}`)} ${dim(`· ${Plain.line(Transcript.modelName(status))} · /help`)}${own}\n`
})

const newName = Effect.map(DateTime.now, (now) => DateTime.formatIso(now).slice(0, 19).replaceAll(/[:T]/g, "-"))

/** Where the last turn begins, if it still runs: it is shown as it happens. */
const unfinished = (entries: ReadonlyArray<Entry.StoredEntry>): number | undefined => {
  const begun = entries.findLastIndex(({ entry }) => entry._tag === "TurnStarted")
  const ended = entries.findLastIndex(({ entry }) => entry._tag === "TurnEnded")
  return begun > ended ? begun : undefined
}

const decodeGrantId = Schema.decodeEffect(Ids.GrantId)

const isRpcClientError = Schema.is(RpcClientError)

const describe = (error: { readonly message: string }): string =>
  isRpcClientError(error) ? Unreachable.explain(error) : error.message
