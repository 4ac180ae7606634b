import * as Outbox from "../laws/Outbox.ts"
import * as Store from "../laws/Store.ts"

for (const { layer, name } of Store.backends) Outbox.laws(name, layer)
