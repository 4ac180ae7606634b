import * as Store from "../laws/Store.ts"
import * as Threads from "../laws/Threads.ts"

for (const { layer, name } of Store.backends) Threads.laws(name, layer)
