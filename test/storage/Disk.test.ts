import * as Disk from "../laws/Disk.ts"
import * as DiskRig from "../rigs/DiskRig.ts"

Disk.laws("SQLite in memory", DiskRig.impatient)
