/** What notes are sorted into, unless the settings say otherwise. */
export const defaults = [
  "finance",
  "reminders",
  "projects",
  "preferences",
  "health",
  "travel",
  "vehicles",
  "contacts",
  "tracking",
  "knowledge",
  "other"
] as const
