import * as Key from "../Key.ts"
import * as Values from "../Values.ts"

export const section = Key.key(
  Key.table({
    owner_id: Key.key(
      Values.NonEmptyText,
      "primary",
      "Who this installation belongs to; owns memory, tasks and schedules."
    ),
    environment: Key.key(
      Values.Choice(["development", "debug", "production"]),
      "production",
      "development and debug keep web assets from being cached; production is normal operation."
    ),
    agent_timeout_seconds: Key.key(
      Values.Seconds,
      120,
      "Longest a turn may work; waiting for an approval does not count, nor does time in which the process was stopped."
    ),
    max_concurrent_turns: Key.key(
      Values.PositiveInt,
      64,
      "How many turns may run at the same time, over all conversations."
    ),
    turn_crash_limit: Key.key(
      Values.PositiveInt,
      3,
      "After this many crashes of the process during one turn, that turn is parked and reported instead of tried again."
    ),
    conversation_idle_seconds: Key.key(
      Values.Seconds,
      60,
      "A conversation with nothing to do for this long leaves memory; its next message brings it back."
    ),
    sweep_interval_seconds: Key.key(Values.Seconds, 5, "How often to look for owed work that nobody is doing."),
    shutdown_grace_seconds: Key.key(
      Values.Seconds,
      5,
      "How long running turns get to reach a safe point when the process is asked to stop."
    )
  }),
  {},
  "The process as a whole: whose it is, and how much it does at once."
)
