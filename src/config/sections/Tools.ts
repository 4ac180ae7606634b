import * as Key from "../Key.ts"
import * as ApplyPatch from "./tools/ApplyPatch.ts"
import * as Approval from "./tools/Approval.ts"
import * as AudioTranscription from "./tools/AudioTranscription.ts"
import * as Bash from "./tools/Bash.ts"
import * as Calculator from "./tools/Calculator.ts"
import * as FileStorage from "./tools/FileStorage.ts"
import * as Grep from "./tools/Grep.ts"
import * as PythonExec from "./tools/PythonExec.ts"
import * as KvMemory from "./tools/KvMemory.ts"
import * as SendGif from "./tools/SendGif.ts"
import * as Skills from "./tools/Skills.ts"
import * as HttpClient from "./tools/HttpClient.ts"
import * as Time from "./tools/Time.ts"
import * as ToolOutputSpill from "./tools/ToolOutputSpill.ts"
import * as Wait from "./tools/Wait.ts"

export const section = Key.key(
  Key.table({
    time: Time.section,
    wait: Wait.section,
    calculator: Calculator.section,
    file_storage: FileStorage.section,
    grep: Grep.section,
    apply_patch: ApplyPatch.section,
    bash: Bash.section,
    python_exec: PythonExec.section,
    kv_memory: KvMemory.section,
    skills: Skills.section,
    http_client: HttpClient.section,
    audio_transcription: AudioTranscription.section,
    send_gif: SendGif.section,
    approval: Approval.section,
    tool_output_spill: ToolOutputSpill.section
  }),
  {},
  "What the agents can use, and under which conditions."
)

export const rules = [
  ...Approval.rules,
  ...Wait.rules,
  ...Bash.rules,
  ...PythonExec.rules,
  ...KvMemory.rules,
  ...HttpClient.rules,
  ...AudioTranscription.rules,
  ...SendGif.rules,
  ...ToolOutputSpill.rules
]
