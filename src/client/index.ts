/** `troupe/client`: the typed RPC client. Nothing it imports is server code. */
export * as TroupeClient from "./TroupeClient.ts"
export * as Unreachable from "./Unreachable.ts"
export * as TroupeRpcs from "../rpc/TroupeRpcs.ts"
export * as Wire from "../rpc/Wire.ts"
