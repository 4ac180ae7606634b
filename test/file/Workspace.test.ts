import * as Folder from "../../layers/file/Folder.ts"
import * as Files from "../laws/Files.ts"
import * as Needs from "../rigs/Needs.ts"

if (!Needs.linux.missing) Files.laws("files, with folders held by descriptors", Folder.byDescriptor)
Files.laws("files, with folders held by their paths", Folder.byPath)
