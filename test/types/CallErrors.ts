/** What can interrupt a call from outside is an error of interruptible tools, and of no other. */
import type * as Tool from "../../src/tool/Tool.ts"
import type { ToolCancelled, ToolDenied, ToolTimeout } from "../../src/tool/ToolError.ts"
import type { Atomic, Declared, Interruptible, Undeclared } from "./Given.ts"

/** An error that calling the tool can fail with. */
type ErrorOf<T extends Tool.Any, E extends Tool.CallError<T>> = E

// @ts-expect-error an atomic tool does not time out: it fails as it declared
export type Timeout = ErrorOf<typeof Atomic, ToolTimeout>
// instead: export type Timeout = ErrorOf<typeof Interruptible, ToolTimeout>

// @ts-expect-error nor is it cancelled
export type Cancelled = ErrorOf<typeof Atomic, ToolCancelled>
// instead: export type Cancelled = ErrorOf<typeof Interruptible, ToolCancelled>

// @ts-expect-error nobody declared this one
export type Another = ErrorOf<typeof Atomic, Undeclared>
// instead: export type Another = ErrorOf<typeof Atomic, Declared | ToolDenied>

export type Used = [Declared, ToolDenied, typeof Interruptible]
