/** `troupe/extension`: what an extension is written against. */
export * as Tool from "../tool/Tool.ts"
