/** All built-in tools. A new one is a line here, next to its definition in `src/tools` and its handler in `layers/tools`. */
import * as Layer from "effect/Layer"
import * as ApplyPatch from "./editing/ApplyPatch.ts"
import * as TranscribeAudio from "./audio/TranscribeAudio.ts"
import * as Files from "./file/Files.ts"
import * as GlobFiles from "./file/GlobFiles.ts"
import * as Grep from "./file/Grep.ts"
import * as Sharing from "./file/Sharing.ts"
import * as Texts from "./file/Texts.ts"
import * as SendGif from "./gif/SendGif.ts"
import * as Bash from "./execution/Bash.ts"
import * as Python from "./execution/Python.ts"
import * as ChatHistory from "./history/ChatHistory.ts"
import * as Memory from "./memory/Memory.ts"
import * as HttpRequest from "./http/HttpRequest.ts"
import * as PreResponse from "./response/PreResponse.ts"
import * as GetSettings from "./runtime/GetSettings.ts"
import * as ReadDocs from "./runtime/ReadDocs.ts"
import * as CalculateExpression from "./utility/CalculateExpression.ts"
import * as CurrentDatetime from "./utility/CurrentDatetime.ts"
import * as Wait from "./utility/Wait.ts"
import * as ListSecrets from "./vault/ListSecrets.ts"

/** Registers every built-in tool; which of them a turn is offered is for the settings and the turn to say. */
export const layer = Layer.mergeAll(
  PreResponse.layer,
  ChatHistory.layer,
  GetSettings.layer,
  ReadDocs.layer,
  Memory.layer,
  HttpRequest.layer,
  CurrentDatetime.layer,
  Wait.layer,
  CalculateExpression.layer,
  Files.layer,
  GlobFiles.layer,
  Texts.layer,
  Grep.layer,
  ApplyPatch.layer,
  Bash.layer,
  Python.layer,
  Sharing.layer,
  TranscribeAudio.layer,
  SendGif.layer,
  ListSecrets.layer
)
