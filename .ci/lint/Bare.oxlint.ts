import { defineConfig } from "oxlint"

/** The house rules without any exemption, for the test that asks whether each exemption is still needed. */
export default defineConfig({ jsPlugins: ["./House.ts"], categories: {}, rules: {} })
