/** What can interrupt a call from outside is an error of interruptible tools, and of no other. */
import type * as Tool from "../../src/tool/Tool.ts"
import type { Atomic, Interruptible } from "./Given.ts"

/** The tags of the errors that calling the tool can fail with. */
type Tags<T extends Tool.Any> = Extract<Tool.CallError<T>, { readonly _tag: string }>["_tag"]
type TagOf<T extends Tool.Any, Tag extends Tags<T>> = [T, Tag]

// @ts-expect-error an atomic tool does not time out: it fails as it declared
export type Timeout = TagOf<typeof Atomic, "ToolTimeout">
// instead: export type Timeout = TagOf<typeof Interruptible, "ToolTimeout">

// @ts-expect-error nor is it cancelled
export type Cancelled = TagOf<typeof Atomic, "ToolCancelled">
// instead: export type Cancelled = TagOf<typeof Interruptible, "ToolCancelled">

// @ts-expect-error nobody declared this one
export type Another = TagOf<typeof Atomic, "Undeclared">
// instead: export type Another = TagOf<typeof Atomic, "Declared" | "ToolDenied" | "UnknownTool">

export type Used = typeof Interruptible
